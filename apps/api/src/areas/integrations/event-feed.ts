import { Injectable } from '@nestjs/common';
import sql, { empty, type Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import { EVENT_COLUMNS, type StoredEvent } from '@app/events';
import { ApiError, type Caller, Cursors, type Place } from '../../http/kit.js';

/** Words in place of a cursor. */
export const OLDEST = 'oldest';
export const NOW = 'now';

/** The most events that one page looks at: a rare type must not make a request read the whole feed. */
export const MOST_EXAMINED = 2_000;

/** Before the first event of an organization. */
const START: Place = { number: 0n, id: '00000000-0000-0000-0000-000000000000' };

/** Which events a request wants. */
export interface Wanted {
  cursor: string;
  limit: number;
  types?: string[];
  resource?: string;
}

export interface EventPage {
  events: StoredEvent[];
  /** Where the next page begins. */
  next: string;
  /** Its number. */
  end: bigint;
  /** Whether something comes after it. */
  more: boolean;
}

interface Row extends StoredEvent {
  /** The event of the cursor is there. */
  present: boolean;
  floor_number: string | null;
  floor_id: string | null;
  end_number: string | null;
  end_id: string | null;
  more: boolean | null;
  number: string | null;
}

/**
 * Reads events in the order of their numbers, which the numberer gives after their commit. A cursor names the last event that was looked at, so
 * filters may change from page to page.
 */
@Injectable()
export class EventFeed {
  constructor(
    private readonly db: Database,
    private readonly cursors: Cursors,
  ) {}

  /** @throws ApiError 410 if events after the cursor may be gone */
  async page(caller: Caller, wanted: Wanted): Promise<EventPage> {
    const { cursor, limit } = wanted;
    const after = cursor === OLDEST || cursor === NOW ? START : this.placeOf(caller, cursor);
    const statement = cursor === NOW ? newestOf(caller) : pageOf(caller, wanted, after);
    const [rows] = await this.db.read<[Row]>(onPrimary(caller), statement);
    const [first] = rows;
    const floor = placeIn(first!.floor_number, first!.floor_id) ?? START;
    // Nothing that comes after the floor is gone. Of the rest of the feed, only what a restore has undone.
    const good = after.number === floor.number ? after.id === floor.id : first!.present;
    if (cursor !== OLDEST && cursor !== NOW && !good) throw ApiError.cursorExpired();
    const found = rows.filter(({ number }) => number !== null);
    const events = found.slice(0, limit);
    const full = found.length > limit;
    const last = full ? events.at(-1)! : null;
    const end = last ? placeIn(last.number, last.id) : placeIn(first!.end_number, first!.end_id);
    const place = end ?? (after === START ? floor : after);
    return { events, next: this.cursorOf(caller, place), end: place.number, more: full || first!.more === true };
  }

  /** @throws ApiError 404 */
  async one(caller: Caller, id: string): Promise<StoredEvent> {
    const [[event]] = await this.db.read<[StoredEvent]>(
      onPrimary(caller),
      sql`SELECT ${EVENT_COLUMNS} FROM events WHERE organization_id = ${caller.organizationId} AND id = ${id}`,
    );
    if (!event) throw ApiError.notFound();
    return event;
  }

  private cursorOf(caller: Caller, place: Place): string {
    return this.cursors.seal(this.cursors.masked(place), useOf(caller));
  }

  /** One of another organization or another ENCRYPTION_KEY names nothing here, as one of a lost past: what to do is the same. */
  private placeOf(caller: Caller, cursor: string): Place {
    const place = this.cursors.open(cursor, useOf(caller));
    if (!place) throw ApiError.cursorExpired();
    return this.cursors.masked(place);
  }
}

/** A replica that is a moment behind would take a cursor for one of a lost past. */
const onPrimary = (caller: Caller): Caller => ({ ...caller, replica: false });

const useOf = ({ organizationId }: Caller) => ({ organizationId, list: 'list_events', filters: {} });

const placeIn = (number: string | null, id: string | null): Place | null =>
  number && id ? { number: BigInt(number), id } : null;

/** The last event that age has deleted, `p`, and whether the cursor's own is there. */
const stateOf = ({ organizationId }: Caller, { number, id }: Place) => sql`(SELECT EXISTS (SELECT FROM events
      WHERE organization_id = ${organizationId} AND number = ${String(number)} AND id = ${id}) AS present) s
    LEFT JOIN event_floors p ON p.organization_id = ${organizationId}`;

/** The end of the feed, as {@link Row} without an event. */
function newestOf(caller: Caller): Sql {
  return sql`SELECT s.present, p.number AS floor_number, p.id AS floor_id, e.number AS end_number, e.id AS end_id, NULL AS number
    FROM ${stateOf(caller, START)} LEFT JOIN LATERAL (SELECT number, id FROM events
      WHERE organization_id = ${caller.organizationId} ORDER BY number DESC LIMIT 1) e ON true`;
}

/** The events of a page and one more, each beside where the look at the feed ended; one row at least. */
function pageOf(caller: Caller, { limit, types, resource }: Wanted, after: Place): Sql {
  const { organizationId } = caller;
  const filtered = types !== undefined || resource !== undefined;
  const next = (columns: Sql) => sql`SELECT number, ${columns} FROM events
    WHERE organization_id = ${organizationId} AND number > ${String(after.number)} ORDER BY number LIMIT ${filtered ? MOST_EXAMINED : limit + 1}`;
  return sql`WITH found AS MATERIALIZED (SELECT * FROM (${next(EVENT_COLUMNS)}) e
      WHERE true${types ? sql` AND type = ANY (${types})` : empty}${resource ? sql` AND resource = ${resource}` : empty}
      ORDER BY number LIMIT ${limit + 1})
    SELECT s.present, p.number AS floor_number, p.id AS floor_id, e.number AS end_number, e.id AS end_id, e.more, f.*
    FROM ${stateOf(caller, after)}
    LEFT JOIN LATERAL (SELECT l.number, l.id, EXISTS (SELECT FROM events n
        WHERE n.organization_id = ${organizationId} AND n.number > l.number) AS more
      FROM (${next(sql`id`)}) l WHERE (SELECT count(*) FROM found) <= ${limit} ORDER BY l.number DESC LIMIT 1) e ON true
    LEFT JOIN found f ON true ORDER BY f.number`;
}
