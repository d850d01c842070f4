import { addDays, dayOf, endOfDay, startOfDay } from '@app/scheduling';

/** The most months of one download. */
const MOST = 24;

/** Far enough from the first and last days that a calendar knows. */
const MONTH = /^[12]\d{3}-(0[1-9]|1[0-2])$/;

/** Months, YYYY-MM. */
export interface Months {
  from: string;
  to: string;
}

/** The current month of the time zone, and the eleven before it. */
export function monthsUntil(now: Date, zone: string): Months {
  const to = dayOf(now, zone).slice(0, 7);
  return { from: monthsFrom(to, -11), to };
}

/** Ignores what is no month. Of too many months, the last ones count. */
export function readMonths({ from, to }: Record<string, unknown>, now: Date, zone: string, most = MOST): Months {
  const read = (text: unknown) => (typeof text === 'string' && MONTH.test(text) ? text : null);
  const last = read(to) ?? monthsUntil(now, zone).to;
  const first = read(from) ?? monthsFrom(last, -11);
  const earliest = monthsFrom(last, 1 - most);
  return { from: first > last ? last : first < earliest ? earliest : first, to: last };
}

/** Each month, with its bounds in the time zone. */
export function eachMonth({ from, to }: Months, zone: string) {
  const months: string[] = [];
  for (let month = from; month <= to; month = monthsFrom(month, 1)) months.push(month);
  return months.map((month) => {
    const [sinceDay, untilDay] = [`${month}-01`, addDays(`${monthsFrom(month, 1)}-01`, -1)];
    return { month, sinceDay, untilDay, since: startOfDay(sinceDay, zone), until: endOfDay(untilDay, zone) };
  });
}

/** The month so many months later. */
function monthsFrom(month: string, count: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  const at = year * 12 + number - 1 + count;
  return `${String(Math.floor(at / 12)).padStart(4, '0')}-${String((at % 12) + 1).padStart(2, '0')}`;
}
