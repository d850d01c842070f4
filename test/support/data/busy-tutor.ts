import type { TestApi } from '../http/api.js';
import { CalendarFixture } from './calendar-fixture.js';

/** A tutor with so many sessions ahead, each with one of three students. */
export async function busyTutor(api: TestApi, ahead: number) {
  const { make } = api;
  const at = await CalendarFixture.open(api);
  await make.query(
    `WITH s AS (INSERT INTO sessions (id, organization_id, tutor_id, student_id, starts_at, ends_at, duration_minutes)
       SELECT gen_random_uuid(), $1, $2, ($3::uuid[])[1 + n % 3], now() + n * interval '1 hour',
         now() + n * interval '1 hour' + interval '50 minutes', 50 FROM generate_series(1, $4::integer) n RETURNING id, student_id)
     INSERT INTO lesson_participants (id, organization_id, session_id, student_id, status)
     SELECT gen_random_uuid(), $1, id, student_id, 'accepted' FROM s`,
    [at.school, at.t1, at.students, ahead],
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
