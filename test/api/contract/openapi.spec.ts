import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AREAS } from '../../../apps/api/src/api.module.js';
import { tagsOf } from '../../../apps/api/src/http/openapi/area.decorator.js';
import { buildDocument } from '../../../apps/api/src/http/openapi/document.js';
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
    expect(JSON.parse(JSON.stringify(buildDocument(api.app, tagsOf(AREAS))))).toEqual(committed);
  });
});
