import { createHash } from 'node:crypto';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { type Bench, say, type Server } from '../bench.js';
import { atMost, medianOf, ratioRow, row } from '../tables.js';
import { Client } from './client.js';
import { inTurns, type Plan } from './rounds.js';

const BOOKINGS: Record<'quick' | 'full', Plan> = {
  quick: { warmUp: 50, rounds: 3, calls: 60 },
  full: { warmUp: 200, rounds: 7, calls: 200 },
};

const AGAINST_BARE = atMost(3);
const HOUR_MS = 3_600_000;

const INSERTS = [
  `INSERT INTO sessions (id, organization_id, tutor_id, student_id, starts_at, ends_at, duration_minutes)
   VALUES ($1, $2, $3, $4, $5, $6, 60)`,
  `INSERT INTO lesson_participants (id, organization_id, session_id, student_id, status, invited_at)
   VALUES ($1, $2, $3, $4, 'accepted', now())`,
];

/** Compares the booking of a session with the inserts of its two rows alone. */
export async function measureBookings({ database, quick }: Bench, api: Server): Promise<void> {
  const { organizationId } = database;
  const idOf = (name: string) => {
    const hash = createHash('md5')
      .update(organizationId + name)
      .digest('hex');
    return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  };
  const [tutor, student] = [idOf('tutor1'), idOf('student1')];
  let hours = 0;
  const next = () => Date.UTC(2030, 0, 1) + hours++ * HOUR_MS;

  const client = new Client(api.url, database.writingKey);
  const settings = { connectionString: database.applicationUrl, pipeline: true, keepAlive: true };
  const bare = new pg.Client(settings);
  // An interrupted run stops the server first.
  bare.on('error', () => undefined);
  await bare.connect();
  const book = async () => {
    const lesson = {
      tutor_id: tutor,
      student_id: student,
      starts_at: new Date(next()).toISOString(),
      duration_minutes: 60,
    };
    const body = Buffer.from(JSON.stringify(lesson));
    return (await client.send({ path: '/v1/sessions', idempotencyKey: uuidv7(), body }, 201)).milliseconds;
  };
  const insert = async () => {
    const [session, place, at] = [uuidv7(), uuidv7(), next()];
    const started = performance.now();
    await Promise.all([
      bare.query('BEGIN'),
      bare.query(`SELECT set_config('app.organization_id', $1, true)`, [organizationId]),
      bare.query({
        name: 'session',
        text: INSERTS[0]!,
        values: [session, organizationId, tutor, student, new Date(at), new Date(at + HOUR_MS)],
      }),
      bare.query({ name: 'place', text: INSERTS[1]!, values: [place, organizationId, session, student] }),
      bare.query('COMMIT'),
    ]);
    return performance.now() - started;
  };
  try {
    const plan = BOOKINGS[quick ? 'quick' : 'full'];
    say(`\nBooking of a session: ${plan.rounds} rounds of ${plan.calls} calls, in turns\n`);
    const [ours, least] = await inTurns([book, insert], plan);
    say(row('', ['p50 ms', 'p95 ms']));
    for (const [name, { p50, p95 }] of [
      ['this API', ours!],
      ['bare insert of the rows (pg)', least!],
    ] as const) {
      say(row(name, [medianOf(p50).toFixed(2), medianOf(p95).toFixed(2)]));
    }
    say(`\n${row('this API against the bare insert', ['ratio', 'rounds', 'target'])}`);
    say(ratioRow('  p50', ours!.p50, least!.p50, AGAINST_BARE));
  } finally {
    client.close();
    await bare.end();
  }
}
