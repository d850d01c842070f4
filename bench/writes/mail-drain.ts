import { type Bench, say, type Server } from '../bench.js';
import type { Child } from '../children.js';
import { asAdmin } from '../database.js';
import { judged, over, row } from '../tables.js';
import { Client } from './client.js';
import { invite, STUDENTS } from './students.js';

const MAILS = { smoke: 100, quick: 1_000, full: 6_000 };
const MAILS_PER_MINUTE = over(6_000);

/** Measures how long one worker takes for mails that became due at once. The API queued them. */
export async function measureMailDrain(bench: Bench, api: Server, sink: Child, smtpUrl: string): Promise<void> {
  const mails = MAILS[bench.length];
  await asAdmin(bench.database.adminUrl, async (admin) => {
    await admin.query('TRUNCATE outbox');
    const client = new Client(api.url, bench.database.writingKey);
    for (let queued = 0; queued < mails; queued += STUDENTS) await invite(client);
    client.close();
    await admin.query(`UPDATE outbox SET due_at = 'infinity'`);
    await admin.query('VACUUM ANALYZE outbox');
    const worker = bench.start('../apps/worker/src/main.js', { env: { ...bench.settings, SMTP_URL: smtpUrl } });
    await worker.working();
    const before = await worker.usage();
    const due = Date.now();
    await admin.query(`WITH due AS (UPDATE outbox SET due_at = now()) SELECT pg_notify('outbox', 'email')`);
    const minutes = ((await sink.taken(mails)) - due) / 60_000;
    const after = await worker.usage();
    await worker.stop();
    const { rows } = await admin.query<{ status: string; rows: number }>(
      'SELECT status, count(*)::int AS rows FROM outbox GROUP BY status',
    );
    if (rows.length !== 1 || rows[0]!.status !== 'sent' || rows[0]!.rows !== mails) {
      throw new Error(`Not every mail was sent: ${JSON.stringify(rows)}`);
    }
    const rate = mails / minutes;
    const cpu = ((after.cpuSeconds - before.cpuSeconds) * 1000) / mails;
    say(`\n${mails} mails that are due at once, one worker, an SMTP server on this machine\n`);
    say(row('', ['mails/min', 'CPU ms/mail', 'RSS MB', 'target']));
    say(row('this worker', [rate.toFixed(0), cpu.toFixed(2), (after.rss / 2 ** 20).toFixed(0), ...judged(rate, MAILS_PER_MINUTE)])); // prettier-ignore
  });
}
