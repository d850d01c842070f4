/** The load generator: a process of its own, so that it takes nothing from the one it measures but a core. */
import autocannon from 'autocannon';

/** What to send, with so many connections at once, for so many seconds. */
export interface Load {
  url: string;
  key: string;
  connections: number;
  seconds: number;
  /** Requests a second, evenly; as many as the connections can without. */
  rate?: number;
}

/** What came back. */
export interface LoadResult {
  requestsPerSecond: number;
  requests: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Answers other than 200, and requests without one. */
  failures: number;
}

async function run({ url, key, connections, seconds, rate }: Load): Promise<LoadResult> {
  const times: number[] = [];
  let failures = 0;
  const headers = { Authorization: `Token token=${key}` };
  const started = performance.now();
  const load = autocannon({ url, headers, connections, duration: seconds, ...(rate && { overallRate: rate }) });
  let last = started;
  // Measured here: autocannon's own histogram knows whole milliseconds only.
  load.on('response', (_client, status, _bytes, milliseconds) => {
    if (status === 200) times.push(milliseconds);
    else failures++;
    last = performance.now();
  });
  const { errors, timeouts } = await load;
  times.sort((a, b) => a - b);
  const percentile = (part: number) => times[Math.floor(times.length * part)] ?? NaN;
  return {
    requests: times.length,
    requestsPerSecond: times.length / ((last - started) / 1000),
    p50: percentile(0.5),
    p99: percentile(0.99),
    failures: failures + errors + timeouts,
  };
}

process.on('message', (load: Load) => {
  void run(load).then((result) => process.send!({ result }));
});
