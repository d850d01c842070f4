import { Injectable } from '@nestjs/common';
import sql, { join, raw, type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { findIds, rulesOf } from '@app/database';
import { Rows, sentenceOf, type Values } from '@app/rows';
import { Refused } from '@app/rules';
import { RATE_CELLS } from './prices.js';

const KEYS = ['band_id', 'tutor_tier_id', 'subject_id', 'session_kind'] as const;
const PRICES = ['student_rate_cents', 'inperson_surcharge_cents'] as const;
const PAY = ['tutor_pay_mode', 'tutor_pay_pct', 'tutor_flat_rate_cents'] as const;

type Key = Partial<Record<(typeof KEYS)[number], string | null>>;

/** A cell of the new table, by its columns. What is undefined stays as it is. */
export interface RateRow extends Key, Partial<Record<(typeof PRICES | typeof PAY)[number], unknown>> {
  /** Pay that is not given becomes null. */
  clear_pay?: boolean | null;
}

/** What becomes of a cell: its new values; null removes it. */
export interface CellEdit {
  /** Null for a new one. */
  id: string | null;
  values: Values | null;
  /** Where it is in the input, for what is refused. */
  at: string;
}

/** The ids of the cells. */
export type Replaced = Record<'created' | 'changed' | 'deleted', string[]>;

const columns = (names: readonly string[], alias: string) => join(names.map((name) => raw(`${alias}.${name}`)));

/** The table of rates as a whole, in the ambient transaction, which holds the table's lock. */
@Injectable()
export class RateTable extends Rows {
  /** @throws Refused for unknown references, for a combination that is given twice, and at the row for what a CHECK refuses */
  async replace(organizationId: string, sent: readonly RateRow[]): Promise<Replaced> {
    const own = sql`c.organization_id = ${organizationId}`;
    const cells = await this.db.query<Key & { id: string }>(
      sql`SELECT c.id, ${columns(KEYS, 'c')} FROM rate_cells c WHERE ${own}`,
    );
    const ids = new Map(cells.map((cell) => [keyOf(cell), cell.id]));
    const wanted = await this.withSubjects(organizationId, sent);
    requireDistinct(wanted.map(keyOf));
    const rows = wanted.map((row): Values => {
      const id = ids.get(keyOf(row));
      return id ? { id, ...givenBy(row) } : { id: uuidv7(), ...row, ...givenBy(row) };
    });
    await this.requireRules(own, rows);
    const known = new Set<unknown>(ids.values());
    const [kept, made] = [rows.filter(({ id }) => known.has(id)), rows.filter(({ id }) => !known.has(id))];
    const stay = new Set(kept.map(({ id }) => id));
    const deleted = cells.map(({ id }) => id).filter((id) => !stay.has(id));

    if (deleted.length > 0)
      await this.write(RATE_CELLS, sql`DELETE FROM rate_cells c WHERE ${own} AND c.id = ANY (${deleted})`);
    const values = [...PRICES, ...PAY];
    // What a row does not give, its cell does.
    const changed = await this.write<{ id: string }>(
      RATE_CELLS,
      sql`UPDATE rate_cells c SET ${join(values.map((name) => raw(`${name} = n.${name}`)))}, updated_at = now()
        FROM (SELECT n.* FROM jsonb_array_elements(${JSON.stringify(kept)}::jsonb) AS given (row)
          JOIN rate_cells c ON ${own} AND c.id = (given.row ->> 'id')::uuid, jsonb_populate_record(c, given.row) n) n
        WHERE ${own} AND c.id = n.id AND ROW(${columns(values, 'c')}) IS DISTINCT FROM ROW(${columns(values, 'n')}) RETURNING c.id`,
    );
    const all = ['id', ...KEYS, ...values];
    await this.write(
      RATE_CELLS,
      sql`INSERT INTO rate_cells (organization_id, ${join(all.map((name) => raw(name)))})
        SELECT ${organizationId}, ${columns(all, 'n')} FROM jsonb_array_elements(${JSON.stringify(made)}::jsonb) AS given (row),
          jsonb_populate_record(NULL::rate_cells, given.row) n`,
    );
    return { created: made.map(({ id }) => id as string), changed: changed.map(({ id }) => id), deleted };
  }

  /** Adds, changes and removes single cells, in the ambient transaction. @throws Refused for an unknown cell, and at the edit and its column for a value that a rule refuses */
  async edit(organizationId: string, edits: readonly CellEdit[]): Promise<Replaced> {
    const done: Replaced = { created: [], changed: [], deleted: [] };
    // A combination that goes may come again.
    for (const { id, values, at } of edits.toSorted((one, other) => Number(!!one.values) - Number(!!other.values))) {
      try {
        if (values === null) {
          await this.remove(organizationId, RATE_CELLS, id!);
          done.deleted.push(id!);
        } else if (id === null) done.created.push(await this.add(organizationId, RATE_CELLS, values));
        else if (await this.change(organizationId, RATE_CELLS, id, values)) done.changed.push(id);
      } catch (error) {
        if (!(error instanceof Refused) || error.why.kind !== 'invalid') throw error;
        throw Refused.invalidAt(error.why.refusals.map(({ at: column, reason }) => ({ at: [at, ...column], reason })));
      }
    }
    return done;
  }

  /** @param own SQL for the organization's cells `c` @param rows with their ids @throws Refused for cells that would break a CHECK */
  private async requireRules(own: Sql, rows: readonly Values[]): Promise<void> {
    const rules = rulesOf('rate_cells');
    const broken = rules.map(
      ({ check }, rule) => sql`SELECT place, ${rule}::integer AS rule FROM cells WHERE NOT (${raw(check)})`,
    );
    const found = await this.db.query<{ place: number; rule: number }>(sql`
      WITH cells AS (
        SELECT given.place::integer - 1 AS place, n.* FROM jsonb_array_elements(${JSON.stringify(rows)}::jsonb) WITH ORDINALITY AS given (row, place)
        LEFT JOIN rate_cells c ON ${own} AND c.id = (given.row ->> 'id')::uuid, jsonb_populate_record(c, given.row) n)
      ${join(broken, ' UNION ALL ')} ORDER BY place, rule`);
    const refusals = found.map(({ place, rule }) => {
      return { at: ['rate_cells', place, rules[rule]!.column], reason: sentenceOf(rules[rule]!) };
    });
    if (refusals.length > 0) throw Refused.invalidAt(refusals);
  }

  /** The rows with ids for codes. A subject that is archived can stay. */
  private async withSubjects(organizationId: string, rows: readonly RateRow[]): Promise<RateRow[]> {
    const names = [...new Set(rows.flatMap(({ subject_id }) => subject_id ?? []))];
    const before = sql`SELECT subject_id FROM rate_cells WHERE organization_id = ${organizationId}`;
    const found = await findIds(this.db, 'subjects', organizationId, names, before);
    const ids = new Map(names.map((name, at) => [name, found[at]!]));
    return rows.map((row) => ({ ...row, subject_id: row.subject_id ? ids.get(row.subject_id)! : null }));
  }
}

const keyOf = (row: Key): string => KEYS.map((name) => row[name] ?? '').join(' ');

/** What the row says of its cell's values. A null pay may be one that the reader was not shown. */
function givenBy(row: RateRow): Values {
  const said = [...PRICES.filter((name) => row[name] !== undefined), ...PAY.filter((name) => row[name] != null)];
  const cleared = row.clear_pay ? PAY.map((name) => [name, null] as const) : [];
  return Object.fromEntries([...cleared, ...said.map((name) => [name, row[name]] as const)]);
}

function requireDistinct(keys: readonly string[]): void {
  const seen = new Set<string>();
  const repeats = keys.flatMap((key, at) => (seen.size === seen.add(key).size ? [at] : []));
  const reason = 'An earlier row has this band, tier, subject and kind of session.';
  if (repeats.length > 0) throw Refused.invalidAt(repeats.map((at) => ({ at: ['rate_cells', at], reason })));
}
