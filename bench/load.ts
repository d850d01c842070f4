/** The load generator. It runs in its own process, so that it shares only the CPU with the measured one. */
import autocannon from 'autocannon';

/** What to send, over how many connections, and for how many seconds, or how often. */
export interface Load {
  url: string;
  key: string;
  connections: number;
  seconds: number;
  amount?: number;
  /** Requests per second, evenly spaced; unlimited by default. */
  rate?: number;
}

/** The result of a load. */
export interface LoadResult {
  requestsPerSecond: number;
  requests: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** What came instead of 200, and how often: statuses, errors, timeouts. */
  failures: Record<string, number>;
}

async function run({ url, key, connections, seconds, amount, rate }: Load): Promise<LoadResult> {
  const times: number[] = [];
  const failures: Record<string, number> = {};
  const fail = (what: string, times: number) => {
    if (times > 0) failures[what] = (failures[what] ?? 0) + times;
  };
  const headers = { Authorization: `Token token=${key}` };
  const started = performance.now();
  const length = amount ? { amount } : { duration: seconds };
  // How often autocannon looks whether it has ended (ms).
  const sampleInt = amount ? 50 : 1_000;
  const load = autocannon({ url, headers, connections, sampleInt, ...length, ...(rate && { overallRate: rate }) });
  let last = started;
  // Measured here, because autocannon's histogram has a resolution of one millisecond.
  load.on('response', (_client, status, _bytes, milliseconds) => {
    if (status === 200) times.push(milliseconds);
    else fail(String(status), 1);
    last = performance.now();
  });
  const { errors, timeouts } = await load;
  fail('errors', errors);
  fail('timeouts', timeouts);
  times.sort((a, b) => a - b);
  const percentile = (part: number) => times[Math.floor(times.length * part)] ?? NaN;
  return {
    requests: times.length,
    requestsPerSecond: times.length / ((last - started) / 1000),
    p50: percentile(0.5),
    p99: percentile(0.99),
    failures,
  };
}

process.on('message', (load: Load) => {
  void run(load).then((result) => process.send!({ result }));
});
