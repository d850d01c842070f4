import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { recordLock, tableLock } from '@app/database';
import type { Caller } from '../auth/caller.js';
import type { View } from '../views/view.js';

interface SourceOptions {
  /** The column that the view shows as `id`: unique within the organization. */
  id?: string;
  /** Other tables that the view needs. Joins never drop or repeat a row of the driving table. */
  joins?: Sql;
  /** The column that holds the organization, if it is not `organization_id`. */
  tenant?: string;
  /** Rows without an organization are the platform's: callers with the platform-blog capability see them too. */
  platform?: boolean;
  /** Rows without an organization are for all. */
  shared?: boolean;
  /** The table whose rows these copy. Triggers write them: a row is locked by name ({@link recordLock}). */
  copies?: string;
}

/** What records show, and which records there are. */
export interface RecordSet {
  view: View;
  /** Where they come from; some depend on the caller. */
  source: Source | ((caller: Caller) => Source);
  /** A condition that all of them meet. */
  where?: Sql;
  /** They can be replaced all at once: their list has an `ETag`, for all of the organization's rows. */
  whole?: boolean;
  /** An order: of several records, the first is the one. */
  first?: Sql;
}

/**
 * A join with the table's row, if there is one, which is looked up for each row. A plain join may be planned as a loop over all rows of an
 * organization: statements are planned for the average one, and the largest would pay.
 */
export const lookUp = (table: string, alias: string, condition: string): Sql =>
  raw(`LEFT JOIN LATERAL (SELECT * FROM ${table} ${alias} WHERE ${condition} OFFSET 0) ${alias} ON true`);

const DECLARED = new WeakMap<View, RecordSet>();

/** Remembers where the records of a view come from. */
export function declare(shown: RecordSet): void {
  if (!DECLARED.has(shown.view)) DECLARED.set(shown.view, shown);
}

/** Where single records of a view come from; undefined if there is no such route. */
export const declared = (view: View): RecordSet | undefined => DECLARED.get(view);

/** Where a view's records come from: a driving table with the organization and all filtered columns, and joins. Readers add {@link sightOf}. */
export class Source {
  /** The driving table with its alias. */
  readonly table: Sql;
  readonly joins: Sql;
  /** The driving table's id, with the alias. */
  readonly id: string;
  /** The column with the organization, with the alias. */
  readonly tenant: string;

  constructor(
    private readonly driving: string,
    readonly alias: string,
    private readonly options: SourceOptions = {},
  ) {
    this.table = raw(`${driving} ${alias}`);
    this.joins = options.joins ?? empty;
    this.id = `${alias}.${options.id ?? 'id'}`;
    this.tenant = `${alias}.${options.tenant ?? 'organization_id'}`;
  }

  /** The caller's organization itself, as `o`. */
  static organization(joins?: Sql): Source {
    return new Source('organizations', 'o', { joins, tenant: 'id' });
  }

  /** Everything that the view's columns refer to. */
  get all(): Sql {
    return sql`${this.table} ${this.joins}`;
  }

  /** The tables of which every record has a row, by alias: not those of outer joins. */
  get tables(): Map<string, string> {
    const inner = this.joins.sql.matchAll(/(?<!(?:LEFT|OUTER) )JOIN (\w+) (\w+) ON/g);
    return new Map([[this.alias, this.driving], ...[...inner].map(([, table, alias]) => [alias!, table!] as const)]);
  }

  /** The name of its lock: see {@link tableLock}. */
  lockFor({ organizationId }: Caller): string {
    return tableLock(this.driving, organizationId);
  }

  /** The name of a copied row's lock; null for rows that are locked themselves. */
  lockOf(id: string): string | null {
    const { copies } = this.options;
    return copies ? recordLock(copies, id) : null;
  }

  /** The kinds of rows that the caller may see, each of which one walk of an index yields in order: its own, and perhaps those of nobody. */
  kindsFor(caller: Caller): Sql[] {
    const tenant = raw(this.tenant);
    const own = sql`${tenant} = ${caller.organizationId}`;
    const { platform, shared } = this.options;
    return shared || (platform && caller.platformBlog) ? [own, sql`${tenant} IS NULL`] : [own];
  }

  /** The rows that the caller may see. */
  sightOf(caller: Caller): Sql {
    const kinds = this.kindsFor(caller);
    return kinds.length === 1 ? kinds[0]! : sql`(${join(kinds, ' OR ')})`;
  }
}
