export interface Hour {
  start: Date;
  requests: number;
  errors: number;
}

const HOUR_MS = 3_600_000;
const HOURS = 7 * 24 + 1;

/** The plot's height in pixels, without the scale to its right and the days below it. */
const HEIGHT = 120;
const WIDTH_PERCENT = 100 / HOURS;

interface Bar {
  /** Percent of the width. */
  x: string;
  /** Pixels from the bottom. */
  requests: number;
  errors: number;
  hour: Hour;
}

/** A chart of requests and errors per hour: positions for the template, and the same as numbers. */
export interface Chart {
  height: number;
  barWidth: string;
  bars: Bar[];
  days: { x: string; weekday: string; day: string }[];
  /** The value of the highest bar. */
  most: number;
  total: number;
  errors: number;
  /** Only hours with requests. */
  hours: Hour[];
}

/** @param hours of the last 7 days that have requests, in order */
export function chartOf(hours: Hour[], timeZone: string, now = new Date()): Chart {
  const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone });
  const weekday = new Intl.DateTimeFormat('en-AU', { weekday: 'short', timeZone });
  const day = new Intl.DateTimeFormat('en-AU', { day: 'numeric', timeZone });
  const minutes = Number(clock.format(now).slice(-2));
  // Hours start on the hour in the time zone.
  const current = Math.floor(now.getTime() / 60_000) * 60_000 - minutes * 60_000;
  const first = current - (HOURS - 1) * HOUR_MS;
  const placeOf = (time: number) => (((time - first) / HOUR_MS) * WIDTH_PERCENT).toFixed(2);
  const most = Math.max(1, ...hours.map(({ requests }) => requests));
  const scale = (count: number) => (count === 0 ? 0 : Math.max(1, Math.round((count / most) * HEIGHT)));
  const starts = Array.from({ length: HOURS }, (_, index) => new Date(first + index * HOUR_MS));
  const midnights = starts.filter((start) => clock.format(start) === '00:00');
  return {
    height: HEIGHT,
    barWidth: (WIDTH_PERCENT * 0.8).toFixed(2),
    bars: hours.map((hour) => {
      return { x: placeOf(hour.start.getTime()), requests: scale(hour.requests), errors: scale(hour.errors), hour };
    }),
    days: midnights.map((start) => {
      return { x: placeOf(start.getTime()), weekday: weekday.format(start), day: day.format(start) };
    }),
    most,
    total: hours.reduce((sum, { requests }) => sum + requests, 0),
    errors: hours.reduce((sum, { errors }) => sum + errors, 0),
    hours,
  };
}
