import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildDocument } from '../../../apps/api/src/http/openapi/document.js';
import { REFERENCE_TAGS } from '../../../apps/api/src/reference-tags.js';
import { TestApi } from '../../support/http/api.js';

describe('docs/openapi.json', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await TestApi.start();
  });
  afterAll(() => api.stop());

  it('matches the application (npm run openapi regenerates it)', () => {
    const file = fileURLToPath(new URL('../../../docs/openapi.json', import.meta.url));
    const committed: unknown = JSON.parse(readFileSync(file, 'utf8'));
    expect(JSON.parse(JSON.stringify(buildDocument(api.app, REFERENCE_TAGS)))).toEqual(committed);
  });
});
