/** The target of a value. */
export interface Target {
  text: string;
  holds: (value: number) => boolean;
}

export const atLeast = (bound: number): Target => ({ text: `at least ${bound}`, holds: (value) => value >= bound });
export const atMost = (bound: number): Target => ({ text: `at most ${bound}`, holds: (value) => value <= bound });
export const under = (bound: number): Target => ({ text: `under ${bound}`, holds: (value) => value < bound });
export const over = (bound: number): Target => ({ text: `over ${bound}`, holds: (value) => value > bound });

/** A line of a table. */
export function row(name: string, cells: string[]): string {
  return `${name.padEnd(34)}${cells.map((cell) => cell.padStart(16)).join('')}`.trimEnd();
}

/** The last two cells of a line: the target, and whether it was reached. */
export function judged(value: number, target: Target | undefined): string[] {
  return target ? [target.text, target.holds(value) ? 'reached' : 'MISSED'] : [];
}

/** A line with the ratio of ours to `theirs`, compared round by round. */
export function ratioRow(name: string, ours: number[], theirs: number[], target?: Target): string {
  const { median, lowest, highest } = ratioOf(ours, theirs);
  return row(name, [`${median.toFixed(2)}x`, `${lowest.toFixed(2)}-${highest.toFixed(2)}`, ...judged(median, target)]);
}

/** The median of the rounds' ratios, so that a slow minute of the machine affects both sides. */
export function ratioOf(ours: number[], theirs: number[]): { median: number; lowest: number; highest: number } {
  const each = ours.map((value, index) => value / theirs[index]!);
  return { median: medianOf(each), lowest: Math.min(...each), highest: Math.max(...each) };
}

export function medianOf(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2;
}
