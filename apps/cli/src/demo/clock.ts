import { addDays, dayOf, dayOfWeek, instantAt } from '@app/scheduling';

const MINUTE = 60_000;
export const DAY = 1_440 * MINUTE;

/** Days and times of day in one time zone, relative to its current date. */
export class Clock {
  private readonly today: string;
  private readonly noons = new Map<number, number>();

  constructor(
    private readonly timeZone: string,
    readonly now: number,
  ) {
    this.today = dayOf(new Date(now), timeZone);
  }

  /** The instant of a time of day, `days` from today. Counted from noon, because clocks change at night. */
  at(days: number, minutes: number): number {
    let noon = this.noons.get(days);
    if (noon === undefined) {
      noon = instantAt(this.date(days), '12:00', this.timeZone).getTime();
      this.noons.set(days, noon);
    }
    return noon + (minutes - 720) * MINUTE;
  }

  /** The date, as YYYY-MM-DD. */
  date(days: number): string {
    return addDays(this.today, days);
  }

  /** The start of this week, on Monday. */
  get monday(): number {
    return this.at(-((dayOfWeek(this.today) + 6) % 7), 0);
  }
}
