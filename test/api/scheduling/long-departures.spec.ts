import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const { make } = api;
const AHEAD = 4_000;

/** A tutor with this many sessions ahead, each with one of three students. */
async function busy() {
  const at = await CalendarFixture.open(api);
  await make.query(
    `WITH s AS (INSERT INTO sessions (id, organization_id, tutor_id, student_id, starts_at, ends_at, duration_minutes)
       SELECT gen_random_uuid(), $1, $2, ($3::uuid[])[1 + n % 3], now() + n * interval '1 hour',
         now() + n * interval '1 hour' + interval '50 minutes', 50 FROM generate_series(1, $4::integer) n RETURNING id, student_id)
     INSERT INTO lesson_participants (id, organization_id, session_id, student_id, status)
     SELECT gen_random_uuid(), $1, id, student_id, 'accepted' FROM s`,
    [at.school, at.t1, at.students, AHEAD],
  );
  const key = await api.key(at.school, { scopes: ['read', 'accounts:write'] });
  const offboard = (body: object) => at.send('post', `/v1/tutors/${at.t1}/offboard`, body, { key });
  const left = () =>
    make.query<{ tutor: string | null; status: string; places: string; n: number }>(
      `SELECT s.tutor_id AS tutor, s.status, p.status AS places, count(*)::integer AS n
       FROM sessions s JOIN lesson_participants p ON p.session_id = s.id
       WHERE s.organization_id = $1 GROUP BY 1, 2, 3 ORDER BY 4`,
      [at.school],
    );
  return { at, offboard, left };
}

describe(`a tutor with ${AHEAD} sessions ahead leaves in one transaction`, () => {
  it.each([
    ['unassign', 'pending', 'accepted'],
    ['cancel', 'cancelled', 'cancelled'],
    ['hand_over', 'scheduled', 'accepted'],
  ])('%s', async (sessions, status, places) => {
    const { at, offboard, left } = await busy();
    const answer = await offboard({ sessions, ...(sessions === 'hand_over' && { hand_over_to: at.t2 }) });
    expect(answer.status).toBe(200);
    const tutor = { unassign: null, cancel: at.t1, hand_over: at.t2 }[sessions];
    expect(await left()).toEqual([{ tutor, status, places, n: AHEAD }]);
  });
});

it('a session whose time an import takes meanwhile is left without a tutor, and the others are handed over', async () => {
  const { at, offboard, left } = await busy();
  const importing = make.db.createQueryRunner();
  await importing.startTransaction();
  await importing.query(
    `INSERT INTO sessions (id, organization_id, tutor_id, starts_at, ends_at, duration_minutes)
     SELECT gen_random_uuid(), $1, $2, starts_at, ends_at, 50 FROM sessions
     WHERE organization_id = $1 AND tutor_id = $3 ORDER BY id LIMIT 1`,
    [at.school, at.t2, at.t1],
  );
  const answer = offboard({ sessions: 'hand_over', hand_over_to: at.t2 });
  await vi.waitFor(async () => {
    const waiting = await make.query(`SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND wait_event_type = 'Lock' AND query LIKE '%UPDATE sessions%'`);
    expect(waiting).toHaveLength(1);
  });
  await importing.commitTransaction();
  await importing.release();
  expect((await answer).status).toBe(200);
  expect(await left()).toMatchObject([
    { tutor: null, status: 'pending', n: 1 },
    { tutor: at.t2, n: AHEAD - 1 },
  ]);
});
