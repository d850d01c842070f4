import { v7 as uuidv7 } from 'uuid';
import { type Bench, type Length, say, type Server } from '../bench.js';
import { asAdmin, idOf } from '../database.js';
import { postgresCpu } from '../request-log/postgres-cpu.js';
import { atMost, medianOf, ratioRow, row } from '../tables.js';
import { Client } from './client.js';
import { invite } from './students.js';

const PLANS: Record<Length, { rounds: number; share: number }> = {
  smoke: { rounds: 1, share: 0.02 },
  quick: { rounds: 6, share: 0.5 },
  full: { rounds: 14, share: 1 },
};
const HOUR_MS = 3_600_000;
const MOST = atMost(1.15);

/** Switches all triggers that tell of changes. */
const SWITCH = (how: 'ENABLE' | 'DISABLE') => `DO $$ DECLARE t record; BEGIN
  FOR t IN SELECT tgrelid::regclass AS place, tgname FROM pg_trigger WHERE tgname LIKE 'tell\\_on\\_%' LOOP
    EXECUTE format('ALTER TABLE %s ${how} TRIGGER %I', t.place, t.tgname);
  END LOOP;
END $$`;

interface Cost {
  p50: number;
  /** Milliseconds of CPU a call, of PostgreSQL and of the API. */
  cpu: number;
}

/** What the triggers behind the feed of events add to writes: the same server with and without them, in turns. */
export async function measureTold(bench: Bench, api: Server): Promise<void> {
  const { organizationId, adminUrl, writingKey } = bench.database;
  const client = new Client(api.url, writingKey);
  const post = async (path: string, body: object) =>
    (await client.send({ path, idempotencyKey: uuidv7(), body: Buffer.from(JSON.stringify(body)) }, 201)).milliseconds;
  const [tutor, payer] = [idOf(organizationId, 'tutor1'), idOf(organizationId, 'student3')];
  const students = [10, 11, 12].map((number) => idOf(organizationId, `student${number}`));
  let hours = 0;
  const writes: [name: string, calls: number, write: () => Promise<number>][] = [
    ['bulk invite of 100', 20, () => invite(client)],
    [
      'booking with 3 participants',
      60,
      () =>
        post('/v1/sessions', {
          tutor_id: tutor,
          student_ids: students,
          starts_at: new Date(Date.UTC(2060, 0, 1) + hours++ * HOUR_MS).toISOString(),
          duration_minutes: 60,
        }),
    ],
    [
      'payment of 3 invoices',
      60,
      () => post('/v1/payments', { student_id: payer, amount_cents: 300, payment_type: 'cash' }),
    ],
  ];
  const { rounds, share } = PLANS[bench.length];
  say(`\nWrites with and without the triggers that tell of changes: ${rounds} pairs of rounds, in turns\n`);
  say(row('', ['with, or ratio', 'without, or pairs', 'target']));
  try {
    await asAdmin(adminUrl, async (admin) => {
      for (const [name, calls, write] of writes) {
        const measure = async (how: 'ENABLE' | 'DISABLE'): Promise<Cost> => {
          await admin.query(SWITCH(how));
          const count = Math.ceil(calls * share);
          // The statements are planned anew.
          for (let call = 0; call < count / 4; call++) await write();
          const usage = async () => (await postgresCpu(admin, '')).others + (await api.child.usage()).cpuSeconds;
          const before = await usage();
          const times: number[] = [];
          for (let call = 0; call < count; call++) {
            if (name.startsWith('payment')) await admin.query(INVOICES, [organizationId, payer]);
            times.push(await write());
          }
          const cpu = (((await usage()) - before) * 1_000) / count;
          await admin.query('DELETE FROM event_changes');
          return { p50: medianOf(times), cpu };
        };
        const [told, untold]: [Cost[], Cost[]] = [[], []];
        for (let pair = 0; pair < rounds; pair++) {
          for (const how of pair % 2 ? (['ENABLE', 'DISABLE'] as const) : (['DISABLE', 'ENABLE'] as const))
            (how === 'ENABLE' ? told : untold).push(await measure(how));
        }
        for (const [unit, of] of [
          ['ms', ({ p50 }: Cost) => p50],
          ['CPU ms', ({ cpu }: Cost) => cpu],
        ] as const) {
          say(row(`${name}, ${unit}`, [medianOf(told.map(of)).toFixed(2), medianOf(untold.map(of)).toFixed(2)]));
          say(ratioRow('  ratio', told.map(of), untold.map(of), MOST));
        }
      }
      await admin.query(SWITCH('ENABLE'));
    });
  } finally {
    client.close();
  }
}

/** Three small open invoices, which the next payment pays. */
const INVOICES = `INSERT INTO invoices (id, organization_id, student_id, invoice_number, status, amount_due_cents, currency, due_date, sent_at)
  SELECT gen_random_uuid(), $1, $2, gen_random_uuid()::text, 'open', 100, 'AUD', '2030-01-01', now() FROM generate_series(1, 3)`;
