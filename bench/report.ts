/** One server in one round. */
export interface Round {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** CPU milliseconds of the server's process, for each request. */
  cpu: number;
}

/** A server's rounds on one page; round n of every server belongs together. */
export type Rounds = Round[];

interface Target {
  text: string;
  holds: (value: number) => boolean;
}

const atLeast = (bound: number): Target => ({ text: `at least ${bound}`, holds: (value) => value >= bound });
const atMost = (bound: number): Target => ({ text: `at most ${bound}`, holds: (value) => value <= bound });
const MOST_RSS: Target = { text: 'under 150', holds: (value) => value < 150 };

const AGAINST_LIMIT = { requestsPerSecond: atLeast(0.6), cpu: atMost(1.8) };
const AGAINST_TEXTBOOK = { requestsPerSecond: atLeast(2) };
const NAMES = { requestsPerSecond: 'requests/s', p50: 'p50', p99: 'p99', cpu: 'CPU per request' };

/** Everything about the page that the targets are for. `rss` in megabytes. */
export function fullReport(api: Rounds, limit: Rounds, textbook: Rounds, rss: Record<string, number>): string {
  const servers = { 'this API': api, 'bench/limit': limit, 'bench/textbook': textbook };
  const reached = verdict(rss['this API']!, MOST_RSS);
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
    ...ratios('this API against bench/textbook', api, textbook, AGAINST_TEXTBOOK),
    '',
    row('memory of this API under load', ['', 'MB', 'target']),
    row('  RSS', ['', rss['this API']!.toFixed(0), MOST_RSS.text, reached]),
  ].join('\n');
}

/** Heading of the lines of {@link brief}. */
export const BRIEF_HEADING = row('', ['requests/s', 'of the limit', 'CPU ms', 'of the limit']);

/** One line for a page that has no target. */
export function brief(name: string, api: Rounds, limit: Rounds): string {
  return row(name, [
    median(api, 'requestsPerSecond').toFixed(0),
    `${ratio(api, limit, 'requestsPerSecond').median.toFixed(2)}x`,
    median(api, 'cpu').toFixed(3),
    `${ratio(api, limit, 'cpu').median.toFixed(2)}x`,
  ]);
}

function ratios(heading: string, ours: Rounds, theirs: Rounds, targets: Partial<Record<keyof Round, Target>>) {
  return [
    row(heading, ['ratio', 'rounds', 'target']),
    ...(Object.keys(NAMES) as (keyof Round)[]).map((field) => {
      const { median, lowest, highest } = ratio(ours, theirs, field);
      const target = targets[field];
      const spread = `${lowest.toFixed(2)}-${highest.toFixed(2)}`;
      return row(`  ${NAMES[field]}`, [
        `${median.toFixed(2)}x`,
        spread,
        ...(target ? [target.text, verdict(median, target)] : []),
      ]);
    }),
  ];
}

/** Round by round, so that a slow minute of the machine weighs on both sides; then the median. */
function ratio(ours: Rounds, theirs: Rounds, field: keyof Round) {
  const each = ours.map((round, index) => round[field] / theirs[index]![field]).sort((a, b) => a - b);
  return { median: middle(each), lowest: each[0]!, highest: each.at(-1)! };
}

function median(rounds: Rounds, field: keyof Round): number {
  return middle(rounds.map((round) => round[field]).sort((a, b) => a - b));
}

function middle(sorted: number[]): number {
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2;
}

function verdict(value: number, target: Target): string {
  return target.holds(value) ? 'reached' : 'MISSED';
}

function row(name: string, cells: string[]): string {
  return `${name.padEnd(34)}${cells.map((cell) => cell.padStart(16)).join('')}`.trimEnd();
}
