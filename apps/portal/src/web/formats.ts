import { LRUCache } from 'lru-cache';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Formats = ReturnType<typeof formatsIn>;

/** By time zone. Creating formatters takes 0.3 ms of CPU, and a page in all about 1.5 ms. */
const cached = new LRUCache<string, Formats>({ max: 100 });

/** How templates write times and numbers. Times are in the organization's time zone. */
export function formats(timeZone: string): Formats {
  const known = cached.get(timeZone) ?? formatsIn(timeZone);
  cached.set(timeZone, known);
  return known;
}

function formatsIn(timeZone: string) {
  const day = { day: 'numeric', month: 'short', year: 'numeric', timeZone } as const;
  const date = new Intl.DateTimeFormat('en-AU', day);
  const minutes = { hour: 'numeric', minute: '2-digit', timeZone } as const;
  const dateTime = new Intl.DateTimeFormat('en-AU', { ...day, ...minutes, timeZoneName: 'short' });
  const shortDay = new Intl.DateTimeFormat('en-AU', { day: 'numeric', month: 'short', timeZone });
  const weekday = new Intl.DateTimeFormat('en-AU', { ...day, weekday: 'long' });
  const clock = new Intl.DateTimeFormat('en-AU', { ...minutes, second: '2-digit' });
  const hour = new Intl.DateTimeFormat('en-AU', minutes);
  const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  return {
    /** `6 Dec 2026` */
    date: (time: Date): string => date.format(time),
    /** `6 Dec 2026, 7:07 am AEDT` */
    dateTime: (time: Date): string => dateTime.format(time),
    /** `6 Dec`, for recent times */
    day: (time: Date): string => shortDay.format(time),
    /** `Sunday 6 Dec 2026` */
    weekday: (time: Date): string => weekday.format(time).replace(',', ''),
    /** `7:07 am` */
    hour: (time: Date): string => hour.format(time),
    /** `7:07:31 am` */
    clock: (time: Date): string => clock.format(time),
    /** `3 hours ago`, `in 2 days`; a date if it is far away */
    relative: (time: Date, now = Date.now()): string => {
      const ms = time.getTime() - now;
      const size = Math.abs(ms);
      if (size < MINUTE) return 'just now';
      if (size < HOUR) return relative.format(Math.trunc(ms / MINUTE), 'minute');
      if (size < DAY) return relative.format(Math.trunc(ms / HOUR), 'hour');
      return size < 30 * DAY ? relative.format(Math.trunc(ms / DAY), 'day') : date.format(time);
    },
    /** `1.2 MB` */
    size: (bytes: number): string =>
      bytes < 1e6
        ? `${Math.ceil(bytes / 1e3)} kB`
        : `${(bytes / 1e6).toLocaleString('en-AU', { maximumFractionDigits: 1 })} MB`,
    number: (value: number): string => value.toLocaleString('en-AU'),
    /** `1 key`, `2 keys` */
    count: (value: number, one: string, many = `${one}s`): string =>
      `${value.toLocaleString('en-AU')} ${value === 1 ? one : many}`,
  };
}

/** `16:30`, as a field for a time holds it. */
export const clockIn = (time: Date, timeZone: string): string =>
  time.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone });
