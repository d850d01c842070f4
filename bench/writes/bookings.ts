import { v7 as uuidv7 } from 'uuid';
import type { Bench, Server } from '../bench.js';
import { atMost } from '../tables.js';
import { idOf, measureAgainstBare } from './against-bare.js';
import { Client } from './client.js';

const HOUR_MS = 3_600_000;

const INSERTS = [
  `INSERT INTO sessions (id, organization_id, tutor_id, student_id, starts_at, ends_at, duration_minutes)
   VALUES ($1, $2, $3, $4, $5, $6, 60)`,
  `INSERT INTO lesson_participants (id, organization_id, session_id, student_id, status, invited_at)
   VALUES ($1, $2, $3, $4, 'accepted', now())`,
] as const;

/** Compares the booking of a session with the inserts of its two rows alone. */
export async function measureBookings({ database, quick }: Bench, api: Server): Promise<void> {
  const { organizationId } = database;
  const [tutor, student] = [idOf(organizationId, 'tutor1'), idOf(organizationId, 'student1')];
  let hours = 0;
  const next = () => Date.UTC(2030, 0, 1) + hours++ * HOUR_MS;
  const client = new Client(api.url, database.writingKey);
  const ours = async () => {
    const lesson = {
      tutor_id: tutor,
      student_id: student,
      starts_at: new Date(next()).toISOString(),
      duration_minutes: 60,
    };
    const body = Buffer.from(JSON.stringify(lesson));
    return (await client.send({ path: '/v1/sessions', idempotencyKey: uuidv7(), body }, 201)).milliseconds;
  };
  const bare = () => {
    const [session, place, at] = [uuidv7(), uuidv7(), next()];
    const times = [new Date(at), new Date(at + HOUR_MS)];
    return [
      { name: 'session', text: INSERTS[0], values: [session, organizationId, tutor, student, ...times] },
      { name: 'place', text: INSERTS[1], values: [place, organizationId, session, student] },
    ];
  };
  try {
    await measureAgainstBare(database, quick, { what: 'Booking of a session', ours, bare, target: atMost(3) });
  } finally {
    client.close();
  }
}
