import { v7 as uuidv7 } from 'uuid';
import type { Bench, Server } from '../bench.js';
import { idOf } from '../database.js';
import { atMost } from '../tables.js';
import { measureAgainstBare } from './against-bare.js';

const HOUR_MS = 3_600_000;

const INSERTS = [
  `INSERT INTO sessions (id, organization_id, tutor_id, student_id, starts_at, ends_at, duration_minutes)
   VALUES ($1, $2, $3, $4, $5, $6, 60)`,
  `INSERT INTO lesson_participants (id, organization_id, session_id, student_id, status, invited_at)
   VALUES ($1, $2, $3, $4, 'accepted', now())`,
] as const;

/** Compares the booking of a session with the inserts of its rows alone. */
export async function measureBookings(bench: Bench, api: Server): Promise<void> {
  const { organizationId } = bench.database;
  const [tutor, student] = [idOf(organizationId, 'tutor1'), idOf(organizationId, 'student1')];
  let hours = 0;
  const next = () => Date.UTC(2030, 0, 1) + hours++ * HOUR_MS;
  const bare = () => {
    const [session, place, at] = [uuidv7(), uuidv7(), next()];
    const times = [new Date(at), new Date(at + HOUR_MS)];
    return [
      { name: 'session', text: INSERTS[0], values: [session, organizationId, tutor, student, ...times] },
      { name: 'place', text: INSERTS[1], values: [place, organizationId, session, student] },
    ];
  };
  await measureAgainstBare(bench, api, {
    what: 'Booking of a session',
    path: '/v1/sessions',
    body: () => ({
      tutor_id: tutor,
      student_id: student,
      starts_at: new Date(next()).toISOString(),
      duration_minutes: 60,
    }),
    bare,
    tables: ['sessions', 'lesson_participants'],
    target: atMost(3),
  });
}
