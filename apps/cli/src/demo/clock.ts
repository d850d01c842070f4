const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Days and times of day in one time zone, relative to its current date. */
export class Clock {
  private readonly format: Intl.DateTimeFormat;
  private readonly today: { year: number; month: number; day: number };
  private readonly offsets = new Map<number, number>();

  constructor(
    timeZone: string,
    readonly now: number,
  ) {
    this.format = new Intl.DateTimeFormat('en-AU', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
    const { year, month, day } = this.read(now);
    this.today = { year, month, day };
  }

  /** The instant of a time of day, `days` from today. */
  at(days: number, minutes: number): number {
    return this.wall(days, minutes) - this.offset(days);
  }

  /** The date, as YYYY-MM-DD. */
  date(days: number): string {
    return new Date(this.wall(days, 0)).toISOString().slice(0, 10);
  }

  /** The start of this week, on Monday. */
  get monday(): number {
    const weekday = new Date(this.wall(0, 0)).getUTCDay();
    return this.at(-((weekday + 6) % 7), 0);
  }

  get year(): number {
    return this.today.year;
  }

  private wall(days: number, minutes: number): number {
    return Date.UTC(this.today.year, this.today.month - 1, this.today.day + days, 0, minutes);
  }

  /** The offset from UTC at noon, because clocks change at night. */
  private offset(days: number): number {
    let offset = this.offsets.get(days);
    if (offset === undefined) {
      const noon = this.wall(days, 720);
      const { year, month, day, hour, minute } = this.read(noon);
      offset = Date.UTC(year, month - 1, day, hour, minute) - noon;
      this.offsets.set(days, offset);
    }
    return offset;
  }

  private read(instant: number) {
    const parts = new Map(this.format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type)!;
    return { year: of('year'), month: of('month'), day: of('day'), hour: of('hour'), minute: of('minute') };
  }
}
