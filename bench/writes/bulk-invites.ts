import { randomUUID } from 'node:crypto';
import { type Bench, type Length, say, type Server } from '../bench.js';
import { atMost, judged, medianOf, ratioRow, row, under } from '../tables.js';
import { compareRows } from './against-bare.js';
import { BareInsert, TABLES } from './bare-insert.js';
import { Client } from './client.js';
import { inTurns, type Plan, type Times } from './rounds.js';
import { invite, inviting, newStudents, STUDENTS } from './students.js';

const INVITES: Record<Length, Plan> = {
  smoke: { warmUp: 0, rounds: 1, calls: 2 },
  quick: { warmUp: 20, rounds: 3, calls: 15 },
  full: { warmUp: 30, rounds: 7, calls: 25 },
};
const REPLAYS: Record<Length, Plan> = {
  smoke: { warmUp: 0, rounds: 1, calls: 2 },
  quick: { warmUp: 50, rounds: 3, calls: 60 },
  full: { warmUp: 200, rounds: 7, calls: 200 },
};

const AGAINST_BARE = atMost(4);
const P50_MS = under(80);
const AGAINST_404 = atMost(1.5);

/** Compares a bulk invite with its inserts alone, and its replay with requests that find nothing. */
export async function measureBulkInvites(bench: Bench, api: Server): Promise<void> {
  const client = new Client(api.url, bench.database.writingKey);
  const bare = new BareInsert(bench.database);
  await bare.connect();
  try {
    await compareRows(bench.database.adminUrl, TABLES, [() => invite(client), () => bare.run()], STUDENTS);
    const plan = INVITES[bench.length];
    say(`\nBulk invite of ${STUDENTS} new students: ${plan.rounds} rounds of ${plan.calls} calls, in turns\n`);
    const [ours, least] = await inTurns([() => invite(client), () => bare.run()], plan);
    say(timesTable({ 'this API': ours!, 'bare insert of the rows (pg)': least! }));
    say(`\n${row('this API against the bare insert', ['ratio', 'rounds', 'target'])}`);
    say(ratioRow('  p50', ours!.p50, least!.p50, AGAINST_BARE));
    const p50 = medianOf(ours!.p50);
    say(row('  p50 ms', [p50.toFixed(1), '', ...judged(p50, P50_MS)]));
    await measureReplays(client, REPLAYS[bench.length]);
  } finally {
    client.close();
    await bare.end();
  }
}

async function measureReplays(client: Client, plan: Plan): Promise<void> {
  const request = inviting(newStudents());
  await client.send(request, 200);
  const replay = async () => {
    const { replayed, milliseconds } = await client.send(request, 200);
    if (!replayed) throw new Error('A second request with the same key was not answered from the first');
    return milliseconds;
  };
  const path = `/v1/students/${randomUUID()}/send-invite`;
  const missedPost = async () => (await client.send({ path, idempotencyKey: randomUUID() }, 404)).milliseconds;
  const group = { path: `/v1/student-groups/${randomUUID()}`, method: 'GET' };
  const missedGet = async () => (await client.send(group, 404)).milliseconds;
  say(`\nThe same request again, same key: ${plan.rounds} rounds of ${plan.calls} calls, in turns\n`);
  const [replays, posts, gets] = await inTurns([replay, missedPost, missedGet], plan);
  say(
    timesTable({
      'replay of the bulk invite': replays!,
      '404, POST send-invite with a key': posts!,
      '404, GET student-groups': gets!,
    }),
  );
  say(`\n${row('the replay against', ['ratio', 'rounds', 'target'])}`);
  say(ratioRow('  404, POST with a key', replays!.p50, posts!.p50, AGAINST_404));
  say(ratioRow('  404, GET', replays!.p50, gets!.p50));
}

function timesTable(ways: Record<string, Times>): string {
  const lines = Object.entries(ways).map(([name, { p50, p95 }]) =>
    row(name, [medianOf(p50).toFixed(2), medianOf(p95).toFixed(2)]),
  );
  return [row('', ['p50 ms', 'p95 ms']), ...lines].join('\n');
}
