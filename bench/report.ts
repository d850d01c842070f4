import { atLeast, atMost, judged, medianOf, ratioOf, ratioRow, row, type Target, under } from './tables.js';

/** A server's results in one round. */
export interface Round {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** CPU time of the server's process per request (ms). */
  cpu: number;
}

/** A server's rounds on one page. The same index is the same round for all servers. */
export type Rounds = Round[];

const MOST_RSS = under(150);
const AGAINST_LIMIT = { requestsPerSecond: atLeast(0.8), cpu: atMost(1.6) };
const AGAINST_TEXTBOOK = { cpu: atMost(0.4) };
const NAMES = { requestsPerSecond: 'requests/s', p50: 'p50', p99: 'p99', cpu: 'CPU per request' };

/** Measurements of the page with targets. */
export interface Measured {
  api: Rounds;
  limit: Rounds;
  frame: Rounds;
  textbook: Rounds;
}

/** The table of that page. `rss` is in megabytes. */
export function fullReport({ api, limit, frame, textbook }: Measured, rss: Record<string, number>): string {
  const servers = { 'this API': api, 'bench/limit': limit, 'bench/frame': frame, 'bench/textbook': textbook };
  return [
    row('', ['requests/s', 'p50 ms', 'p99 ms', 'CPU ms/request', 'RSS MB']),
    ...Object.entries(servers).map(([name, rounds]) =>
      row(name, [
        median(rounds, 'requestsPerSecond').toFixed(0),
        median(rounds, 'p50').toFixed(2),
        median(rounds, 'p99').toFixed(2),
        median(rounds, 'cpu').toFixed(3),
        rss[name]!.toFixed(0),
      ]),
    ),
    '',
    ...ratios('this API against bench/limit', api, limit, AGAINST_LIMIT),
    '',
    ...ratios('bench/frame against bench/limit', frame, limit, {}),
    '',
    ...ratios('this API against bench/textbook', api, textbook, AGAINST_TEXTBOOK),
    '',
    row('memory of this API under load', ['', 'MB', 'target']),
    row('  RSS', ['', rss['this API']!.toFixed(0), ...judged(rss['this API']!, MOST_RSS)]),
  ].join('\n');
}

/** Heading of the lines of {@link brief}. */
export const BRIEF_HEADING = (other: string) => row('', ['requests/s', `of ${other}`, 'CPU ms', `of ${other}`]);

/** A line for a page without a target: this API, and its ratios to the other servers. */
export function brief(name: string, api: Rounds, other: Rounds): string {
  return row(name, [
    median(api, 'requestsPerSecond').toFixed(0),
    `${ratioOf(all(api, 'requestsPerSecond'), all(other, 'requestsPerSecond')).median.toFixed(2)}x`,
    median(api, 'cpu').toFixed(3),
    `${ratioOf(all(api, 'cpu'), all(other, 'cpu')).median.toFixed(2)}x`,
  ]);
}

function ratios(heading: string, ours: Rounds, theirs: Rounds, targets: Partial<Record<keyof Round, Target>>) {
  return [
    row(heading, ['ratio', 'rounds', 'target']),
    ...(Object.keys(NAMES) as (keyof Round)[]).map((field) =>
      ratioRow(`  ${NAMES[field]}`, all(ours, field), all(theirs, field), targets[field]),
    ),
  ];
}

function median(rounds: Rounds, field: keyof Round): number {
  return medianOf(all(rounds, field));
}

function all(rounds: Rounds, field: keyof Round): number[] {
  return rounds.map((round) => round[field]);
}
