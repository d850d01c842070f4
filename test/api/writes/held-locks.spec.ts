import { lockNumber } from '@app/database';
import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const at = await CalendarFixture.open(api);
const hour = (number: number) => new Date(Date.UTC(2027, 5, 1, number)).toISOString();

describe('a write that waits too long for a lock', () => {
  it('is a 503, whatever was sent together with the wait', async () => {
    const { id } = (await at.book(hour(1))).body;
    const key = await api.key(at.school, { scopes: ['read', 'sessions:write', 'accounts:write'] });
    const held = [`calendar of ${at.t1} in ${at.school}`, `mail of ${at.school}`, `person ${at.students[1]} in ${at.school}`];
    const other = api.make.db.createQueryRunner();
    await other.startTransaction();
    await other.query('SELECT pg_advisory_xact_lock(n) FROM unnest($1::bigint[]) n', [held.map(lockNumber)]);
    const series = { tutor_id: at.t1, student_id: at.students[0], starts_at: hour(3), duration_minutes: 60 };
    const answers = await Promise.all([
      at.book(hour(2)),
      at.book(hour(2), { tutor_id: at.t2, student_ids: [at.students[1]] }),
      at.send('post', '/v1/session-series', { ...series, every_weeks: 1, count: 3 }),
      at.put(id, { starts_at: hour(5) }),
      at.send('post', '/v1/students', { first_name: 'Mia', last_name: 'Ng', email: 'm@example.org' }, { key }),
      at.send('post', '/v1/invites', { scope: 'organization', role: 'tutor', email: 't@example.org' }, { key }),
    ]);
    await other.rollbackTransaction();
    await other.release();
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
  });
});
