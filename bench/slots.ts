import { addDays, dayOf } from '@app/scheduling';
import { type Bench, say } from './bench.js';
import { asAdmin } from './database.js';
import { inTurns, plansOf } from './reads.js';
import { judged, medianOf, row, under } from './tables.js';

const DAYS = 62;
const MOST_CPU_MS = under(20);
/** CPU per answer is the same with few of them: more wait for turns, on a slow machine until they are refused. */
const CONNECTIONS = 4;

/** A tutor of the benchmark: hours on each day of the week, three lessons a day, and holidays. */
const FILL = [
  `INSERT INTO availabilities (id, organization_id, tutor_id, day_of_week, start_time, end_time, timezone)
   SELECT gen_random_uuid(), $1::uuid, md5($1::uuid || 'tutor' || 1)::uuid, day, start, finish, 'Australia/Melbourne'
   FROM generate_series(0, 6) day, (VALUES ('08:00', '12:00'), ('13:00', '21:00')) hours (start, finish)`,
  `INSERT INTO sessions (id, organization_id, tutor_id, starts_at, ends_at, duration_minutes)
   SELECT gen_random_uuid(), $1::uuid, md5($1::uuid || 'tutor' || 1)::uuid, start, start + interval '1 hour', 60
   FROM generate_series(date_trunc('day', now()), now() + interval '${DAYS} days', interval '8 hours') start`,
  `INSERT INTO time_off (id, organization_id, tutor_id, starts_on, ends_on)
   SELECT gen_random_uuid(), $1::uuid, md5($1::uuid || 'tutor' || 1)::uuid, current_date + 30, current_date + 37`,
];

/** What a tutor's slots of the longest period cost. */
export async function measureSlots(bench: Bench): Promise<void> {
  const { adminUrl, organizationId } = bench.database;
  const tutor = await asAdmin(adminUrl, async (admin) => {
    for (const statement of FILL) await admin.query(statement, [organizationId]);
    const id = `SELECT md5($1::uuid || 'tutor' || 1)::uuid AS id`;
    return (await admin.query<{ id: string }>(id, [organizationId])).rows[0]!.id;
  });
  const api = await bench.serveApi();
  const today = dayOf(new Date(), 'Australia/Melbourne');
  const path = `/v1/tutors/${tutor}/available-slots?from=${today}&to=${addDays(today, DAYS)}`;
  const page = { name: `slots of ${DAYS} days`, path, statements: [] };
  const load = bench.start('./load.js', { measured: false });
  const [rounds] = await inTurns(load, [api], [page], { connections: CONNECTIONS, ...plansOf(bench).others });
  const cpu = medianOf(rounds!.map((round) => round.cpu));
  say(`\n${row('CPU per answer', ['ms', 'target', ''])}`);
  say(row(page.name, [cpu.toFixed(2), ...judged(cpu, MOST_CPU_MS)]));
}
