import { Injectable } from '@nestjs/common';
import sql, { join, raw, type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { canonicalUuid, Database, lockRecord } from '@app/database';
import { requireRole } from '@app/people';
import { Refused } from '@app/rules';
import { refusedBy } from './refused-by.js';
import type { Reference, RowTable } from './row-table.js';

/** Values by column; one that is undefined is left as it is. */
export type Values = Record<string, unknown>;

/** Makes, changes and removes the rows of tables without a rule of their own, in the ambient transaction. */
@Injectable()
export class Rows {
  constructor(private readonly db: Database) {}

  /** @returns its id @throws Refused for unknown references, a row like another one, and what a CHECK refuses */
  async add(organizationId: string, kind: RowTable, values: Values): Promise<string> {
    const id = uuidv7();
    const columns = { id, organization_id: organizationId, ...(await this.known(organizationId, kind, values)) };
    const names = join(Object.keys(columns).map((name) => raw(name)));
    await this.write(kind, sql`INSERT INTO ${raw(kind.table)} (${names}) VALUES (${join(Object.values(columns))})`);
    return id;
  }

  /** @returns whether anything changed @throws Refused like {@link add}, for an unknown row, and in another state */
  async change(organizationId: string, kind: RowTable, id: string, values: Values): Promise<boolean> {
    await this.lock(organizationId, kind, id);
    const columns = Object.entries(await this.known(organizationId, kind, values));
    if (columns.length === 0) return false;
    const names = join(columns.map(([name]) => raw(name)));
    const given = join(columns.map(([, value]) => value));
    const set = columns.map(([name, value]) => sql`${raw(name)} = ${value}`);
    const stamp = kind.stamped ? [sql`updated_at = now()`] : [];
    const changed = await this.write(
      kind,
      sql`UPDATE ${raw(kind.table)} SET ${join([...set, ...stamp])}
        WHERE organization_id = ${organizationId} AND id = ${id} AND ROW(${names}) IS DISTINCT FROM ROW(${given}) RETURNING id`,
    );
    return changed.length > 0;
  }

  /** @throws Refused for an unknown row, in another state, and for one that others name */
  async remove(organizationId: string, kind: RowTable, id: string): Promise<void> {
    await this.lock(organizationId, kind, id);
    await this.write(
      kind,
      sql`DELETE FROM ${raw(kind.table)} WHERE organization_id = ${organizationId} AND id = ${id}`,
    );
  }

  private async lock(organizationId: string, { table, states }: RowTable, id: string): Promise<void> {
    const columns = states ? sql`status` : sql`id`;
    const { status } = await lockRecord<{ status: string }>(this.db, table, organizationId, id, columns);
    if (states && !states.includes(status)) throw Refused.invalidState(status, states);
  }

  private async write(kind: RowTable, statement: Sql): Promise<unknown[]> {
    try {
      return await this.db.query(statement);
    } catch (error) {
      throw refusedBy(error, kind) ?? error;
    }
  }

  /** The values as columns hold them, references by id. @throws Refused for unknown ones, and for members without the part */
  private async known(organizationId: string, { references = {}, json = [] }: RowTable, values: Values) {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    const columns = Object.fromEntries(given.map(([name, value]) => [name, stored(value, json.includes(name))]));
    const named = Object.entries(references).filter(([name]) => typeof columns[name] === 'string');
    if (named.length === 0) return columns;
    const looks = named.map(
      ([name, to]) => sql`(${lookUp(to, organizationId, columns[name] as string)}) AS ${raw(name)}`,
    );
    const [found] = await this.db.query<Record<string, string | null>>(sql`SELECT ${join(looks)}`);
    for (const [name, to] of named) {
      const is = found![name];
      if (!is) throw Refused.notFound();
      if ('member' in to) requireRole(is as Parameters<typeof requireRole>[0], to.member, name);
      else columns[name] = is;
    }
    return columns;
  }
}

function lookUp(to: Reference, organizationId: string, named: string): Sql {
  const own = sql`organization_id = ${organizationId}`;
  if ('member' in to) return sql`SELECT role FROM members WHERE ${own} AND user_id = ${named} AND status = 'accepted'`;
  const id = canonicalUuid(named);
  return sql`SELECT id FROM ${raw(to.table)} WHERE ${own} AND ${id ? sql`id = ${id}` : sql`code = ${named}`} AND ${raw(to.where ?? 'true')}`;
}

function stored(value: unknown, json: boolean): unknown {
  if (json && value !== null) return JSON.stringify(value);
  return value instanceof Date ? value.toISOString() : value;
}
