import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { urlsOf } from '../support/database/database.js';
import { TestApi } from '../support/http/api.js';
import { results } from '../support/process/cli.js';
import { runHere } from '../support/process/commands.js';
import { fixture } from '../support/process/fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tutoring-catalogue-'));
afterAll(() => rmSync(folder, { recursive: true }));

const api = await fixture(TestApi.start());
const { make } = api;
const file = join(folder, 'exam.ndjson');

function load(rows: object[], catalogue: string) {
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  return runHere(['--json', 'import-questions', file, '--catalogue', catalogue], urlsOf(api.database));
}
const question = (wish: object = {}) => ({ id: randomUUID(), topic: 'Quadratics', tags: ['exam'], is_official_vce: true, ...wish });

describe('cli import-questions', () => {
  it('imports a catalogue that every organization can read, and can be repeated', async () => {
    const rows = [question({ question_number: 1, curriculum_level_ids: [randomUUID()] }), question({ topic: 'Ratios' })];
    const first = await load(rows, 'vcaa');
    expect([first.code, results(first.stdout)]).toEqual([0, [{ catalogue: 'vcaa', read: 2, inserted: 2, unchanged: 0 }]]);
    const again = await load([...rows, question()], 'vcaa');
    expect(results(again.stdout)).toEqual([{ catalogue: 'vcaa', read: 3, inserted: 1, unchanged: 2 }]);
    for (const { id } of [await make.organization(), await make.organization()]) {
      const answer = await api.get('/v1/questions?source=vcaa&topic=Ratios', await api.key(id));
      expect((answer.body as { data: object[] }).data).toMatchObject([
        { id: rows[1]!.id, source: 'vcaa', owned_by_org: false, is_official_vce: true },
      ]);
    }
  });

  it('refuses ids that are taken, and fields that a catalogue does not have, without writing anything', async () => {
    const own = await make.row('questions', { organizationId: (await make.organization()).id, topic: 'Own' });
    const faults = async (rows: object[], name = 'other') => (await load(rows, name)).stderr;
    expect(await faults([question(), { ...question(), id: own.id }])).toContain('exam.ndjson:2: id: is taken');
    expect(await faults([question({ author_id: randomUUID() })])).toContain('author_id: is not a field of this table');
    expect(await faults([question({ catalogue: 'vcaa' })])).toContain('catalogue: is set by the service');
    expect(await faults([question({ topic: '' })])).toContain('topic: must have at least 1 character');
    for (const name of ['own', 'Two words', '']) expect(await faults([question()], name)).toContain('is not a valid name');
    expect(await make.query(`SELECT FROM questions WHERE catalogue = 'other'`)).toEqual([]);
  });
});
