import { Injectable } from '@nestjs/common';
import sql, { join, raw, type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { canonicalUuid, Database, isArchivable, lockRecord, namable, tableLock } from '@app/database';
import { requireRole } from '@app/people';
import { Refused } from '@app/rules';
import { refusedBy } from './refused-by.js';
import type { Reference, RowTable } from './row-table.js';

/** Values by column; one that is undefined is left as it is. */
export type Values = Record<string, unknown>;

/** Makes, changes and removes the rows of tables without a rule of their own, in the ambient transaction. */
@Injectable()
export class Rows {
  constructor(protected readonly db: Database) {}

  /** @returns its id @throws Refused for unknown references, a row like another one, and what a CHECK refuses */
  async add(organizationId: string, kind: RowTable, values: Values): Promise<string> {
    await this.begin(organizationId, kind);
    await this.requireRoom(organizationId, kind);
    const id = uuidv7();
    const known = await this.known(organizationId, kind, values);
    const columns = { id, [ownerOf(kind)]: organizationId, ...known, ...kind.derived?.values(known, null) };
    await this.takeFlag(organizationId, kind, columns, null);
    const names = join(Object.keys(columns).map((name) => raw(name)));
    await this.write(kind, sql`INSERT INTO ${raw(kind.table)} (${names}) VALUES (${join(Object.values(columns))})`);
    return id;
  }

  /** @returns whether anything changed @throws Refused like {@link add}, for an unknown row, and in another state */
  async change(organizationId: string, kind: RowTable, id: string, values: Values): Promise<boolean> {
    const stored = await this.lock(organizationId, kind, id);
    const known = await this.known(organizationId, kind, values, id);
    const columns = Object.entries({ ...known, ...kind.derived?.values(known, stored) });
    if (columns.length === 0) return false;
    await this.takeFlag(organizationId, kind, values, id);
    const names = join(columns.map(([name]) => raw(name)));
    const given = join(columns.map(([, value]) => value));
    const set = columns.map(([name, value]) => sql`${raw(name)} = ${value}`);
    const stamp = kind.stamped ? [sql`updated_at = now()`] : [];
    const changed = await this.write(
      kind,
      sql`UPDATE ${raw(kind.table)} SET ${join([...set, ...stamp])}
        WHERE ${raw(ownerOf(kind))} = ${organizationId} AND id = ${id} AND ROW(${names}) IS DISTINCT FROM ROW(${given}) RETURNING id`,
    );
    return changed.length > 0;
  }

  /** @throws Refused for an unknown row, in another state, and for one that others name */
  async remove(organizationId: string, kind: RowTable, id: string): Promise<void> {
    await this.lock(organizationId, kind, id);
    await this.write(
      kind,
      sql`DELETE FROM ${raw(kind.table)} WHERE ${raw(ownerOf(kind))} = ${organizationId} AND id = ${id}`,
    );
  }

  /** @returns what of the row others follow from */
  private async lock(organizationId: string, kind: RowTable, id: string): Promise<Values> {
    const { table, states, derived, owner } = kind;
    await this.begin(organizationId, kind);
    const names = [...(states ? ['status'] : ['id']), ...(derived?.from ?? [])];
    const columns = join(names.map((name) => raw(name)));
    const row = await lockRecord<Values>(this.db, table, organizationId, id, columns, owner);
    if (states && !states.includes(row.status as string)) throw Refused.invalidState(row.status as string, states);
    return row;
  }

  /** Locks what a change of such rows locks before the row itself, in the ambient transaction. */
  async begin(organizationId: string, { table, whole, most }: RowTable): Promise<void> {
    if (whole || most !== undefined) await this.db.lock(tableLock(table, organizationId));
  }

  private async requireRoom(organizationId: string, { table, owner, most }: RowTable): Promise<void> {
    if (most === undefined) return;
    const rows = await this.db.query(
      sql`SELECT FROM ${raw(table)} WHERE ${raw(owner ?? 'organization_id')} = ${organizationId} LIMIT ${most}`,
    );
    if (rows.length < most) return;
    throw Refused.conflict('too_many', `An organization has at most ${most.toLocaleString('en')} of these.`, {
      limit: most,
    });
  }

  private async takeFlag(organizationId: string, { table, single }: RowTable, values: Values, id: string | null) {
    if (!single || values[single.flag] !== true) return;
    await this.db.lock(`${single.flag} of ${table} of ${organizationId}`);
    const own = sql`t.organization_id = ${organizationId}`;
    const of = (name: string) =>
      id === null
        ? sql`${values[name] ?? null}`
        : sql`(SELECT ${raw(name)} FROM ${raw(table)} t WHERE ${own} AND t.id = ${id})`;
    const same = single.among.map((name) => sql`t.${raw(name)} IS NOT DISTINCT FROM ${of(name)}`);
    await this.db.query(sql`
      UPDATE ${raw(table)} t SET ${raw(single.flag)} = false
      WHERE ${own} AND t.${raw(single.flag)} AND t.id IS DISTINCT FROM ${id}::uuid AND ${join(same, ' AND ')}`);
  }

  protected async write<Row extends object>(kind: RowTable, statement: Sql): Promise<Row[]> {
    try {
      return await this.db.query<Row>(statement);
    } catch (error) {
      throw refusedBy(error, kind) ?? error;
    }
  }

  /** The values as columns hold them, references by id. @throws Refused for unknown ones, and for members without the part */
  private async known(organizationId: string, kind: RowTable, values: Values, id: string | null = null) {
    const { references = {}, json = [], past = [], table } = kind;
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    const columns = Object.fromEntries(given.map(([name, value]) => [name, stored(value, json.includes(name))]));
    await this.checkDays(organizationId, columns, past);
    const named = Object.entries(references).filter(([name]) => typeof columns[name] === 'string');
    if (named.length === 0) return columns;
    const looks = named.map(([name, to]) => {
      const before = sql`SELECT ${raw(name)} FROM ${raw(table)} WHERE ${raw(ownerOf(kind))} = ${organizationId} AND id = ${id}`;
      return sql`(${lookUp(to, organizationId, columns[name] as string, before)}) AS ${raw(name)}`;
    });
    const [found] = await this.db.query<Record<string, string | null>>(sql`SELECT ${join(looks)}`);
    for (const [name, to] of named) {
      const is = found![name];
      if (!is) throw Refused.notFound();
      if (!('member' in to)) columns[name] = is;
      else if (to.member !== 'any') requireRole(is as Parameters<typeof requireRole>[0], to.member, name);
    }
    return columns;
  }

  private async checkDays(organizationId: string, columns: Values, past: readonly string[]): Promise<void> {
    const days = past.filter((name) => typeof columns[name] === 'string');
    if (days.length === 0) return;
    const [now] = await this.db.query<{ today: string }>(
      sql`SELECT (now() AT TIME ZONE time_zone)::date::text AS today FROM organizations WHERE id = ${organizationId}`,
    );
    const later = days.filter((name) => (columns[name] as string) > now!.today);
    if (later.length > 0)
      throw Refused.invalidAt(later.map((name) => ({ at: [name], reason: 'Must not be later than today.' })));
  }
}

const ownerOf = ({ owner }: RowTable): string => owner ?? 'organization_id';

/** @param before SQL for what the row names already */
function lookUp(to: Reference, organizationId: string, named: string, before: Sql): Sql {
  const own = sql`organization_id = ${organizationId}`;
  if ('member' in to) {
    const now = to.archived ? sql`true` : sql`status = 'accepted'`;
    return sql`SELECT role FROM members WHERE ${own} AND user_id = ${named} AND ${now}`;
  }
  const id = canonicalUuid(named);
  const wanted = isArchivable(to.table) ? namable('t', before) : raw(to.where ?? 'true');
  return sql`SELECT id FROM ${raw(to.table)} t WHERE ${own} AND ${id ? sql`id = ${id}` : sql`code = ${named}`} AND ${wanted}`;
}

function stored(value: unknown, json: boolean): unknown {
  if (json && value !== null) return JSON.stringify(value);
  return value instanceof Date ? value.toISOString() : value;
}
