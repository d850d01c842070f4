import { randomUUID } from 'node:crypto';
import { Database } from '@app/database';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const { make } = api;

describe('the size of a page', () => {
  it('includes its arrays', async () => {
    const { id } = await make.organization();
    const tags = Array<string>(20_000).fill('0123456789');
    for (let n = 0; n < 3; n++) await make.tutor(id);
    await make.query('UPDATE tutor_profiles SET specialisations = $2 WHERE organization_id = $1', [id, tags]);
    const reads = vi.spyOn(Database.prototype, 'read');
    const answer = await api.get('/v1/tutors', await api.key(id));
    const tutors = (answer.body as { data: { specialisations: string[] }[] }).data;
    expect(tutors.map(({ specialisations }) => specialisations)).toEqual([tags, tags, tags]);
    expect(reads).toHaveBeenCalledTimes(1 + 3);
    reads.mockRestore();
  });

  it('includes JSON, whose text may keep its blanks', async () => {
    const { id } = await make.organization();
    const { id: tutor } = await make.tutor(id);
    const files = Array.from({ length: 3_000 }, () => ({ name: `a, "b": ${randomUUID()}`, size: 1 }));
    for (let n = 0; n < 2; n++) {
      const homework = await make.homework(tutor, {}, id);
      await make.query('UPDATE homework SET files = $2 WHERE id = $1', [homework.id, JSON.stringify(files)]);
    }
    const answer = await api.get('/v1/homework', await api.key(id));
    expect(answer.headers['transfer-encoding']).toBe('chunked');
    expect((answer.body as { data: object[] }).data).toMatchObject([{ files }, { files }]);
  });
});
