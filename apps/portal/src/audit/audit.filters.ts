import { canonicalUuid, parseDate, type Position } from '@app/database';
import { positionText, queryOf, readPosition } from '../web/paging.js';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

type Choice = Record<'person' | 'key' | 'day', string | null>;

/** Which rows are listed; null for all. They can be combined. */
export class AuditFilters implements Choice {
  /** Who did it, or whom it was about. */
  readonly person: string | null;
  readonly key: string | null;
  /** `2026-12-06`, in the organization's time zone. */
  readonly day: string | null;

  constructor(
    { person, key, day }: Choice,
    readonly before: Position | null = null,
  ) {
    [this.person, this.key, this.day] = [person, key, day];
  }

  get any(): boolean {
    return this.person !== null || this.key !== null || this.day !== null;
  }

  /** The query of the first page with these filters changed, or of the page after a row. */
  queryWith(other: Partial<Choice>, before: Position | null = null): string {
    const { person, key, day } = this;
    return queryOf({ person, key, day, ...other, before: before && positionText(before) }) || '?';
  }
}

/** Reads the filters, ignoring invalid values. The form shows which filters apply. */
export function readFilters({ person, key, day, before }: Record<string, unknown>): AuditFilters {
  const id = (value: unknown) => (typeof value === 'string' ? canonicalUuid(value) : null);
  const date = typeof day === 'string' && DAY.test(day) && parseDate(day) ? day : null;
  return new AuditFilters({ person: id(person), key: id(key), day: date }, readPosition(before));
}
