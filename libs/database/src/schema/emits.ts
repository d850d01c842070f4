import { onRows } from './rules.js';

/** A kind of change that has a name of its own, such as `session.completed`. */
interface Verb {
  /** A sentence for those who subscribe to it. */
  says: string;
  /** SQL over the row `n`: a new row is this, rather than just created. */
  inserted?: string;
  /** SQL over `o` and `n`, the row before and after. */
  updated?: string;
}

/** A record that the API shows, of which the rows of a table tell. */
export interface Emitter {
  table: string;
  /** Its name on the wire, and before the dot of its types. */
  resource: string;
  /** With its article, for sentences. */
  noun: string;
  /** Where it is read, with `{id}`; null if only lists show it. */
  path: string | null;
  /** The list that shows it; null if there is none. */
  list: string | null;
  /** The column of its public id. */
  id: string;
  /** Columns that are never told: secrets, counters, copies, and whatever the API does not show. */
  never: string[];
  /** Fields that are not called as their columns. */
  as: Record<string, string>;
  /** Whether the API shows a row, as SQL. */
  sight?: (alias: string) => string;
  /** A row may come to belong to another organization. */
  moves?: boolean;
  /** Fields that are computed, as SQL. */
  derived: Record<string, (alias: string) => string>;
  /** What is compared, as the SELECT list of a row, if it is not the row itself. */
  shape?: (alias: string) => string;
  verbs: Record<string, Verb>;
  /** What else happens to it: `created`, `updated` and `deleted`, unless that never does. */
  plain: readonly ('created' | 'updated' | 'deleted')[];
  /** What it is called when it leaves the organization's sight, other than deleted. */
  gone?: Record<string, { says: string; when: string }>;
  /** The column of the session whose own event in the same transaction tells enough. */
  within?: string;
  /** The column of the organization; rows without one are not told. */
  organization: string;
}

/** A table whose rows are shown within another record, or change how it is shown. */
interface Part {
  table: string;
  /** The record's table and name. */
  of: string;
  resource: string;
  /** SQL that joins a row `c` with its record `p`. */
  on: string;
  /** The fields of the record that each column changes. */
  fields: Record<string, string[]>;
  /** SQL over `c`: only these rows. */
  where?: string;
  /** It is there before any record shows it, and after: only its changes tell. */
  onlyUpdates?: boolean;
}

const EMITTERS: Emitter[] = [];
const PARTS: Part[] = [];

export const emitters = (): readonly Emitter[] => EMITTERS;

type Wanted = Pick<Emitter, 'resource' | 'noun' | 'list'> & Partial<Emitter>;

/** Rows of this table are records of the API: each change of one is an event. @see docs/events.md @returns no SQL: see {@link tellTriggers} */
export function emits(table: string, wanted: Wanted): string {
  EMITTERS.push({
    ...{ table, path: `${wanted.list}/{id}`, id: 'id', never: [], as: {}, derived: {}, verbs: {} },
    ...{ plain: ['created', 'updated', 'deleted'], organization: 'organization_id' },
    ...wanted,
  });
  return '';
}

/** A change of such a row is an update of another record. @returns no SQL: see {@link tellTriggers} */
export function partOf(table: string, part: Omit<Part, 'table'>): string {
  PARTS.push({ table, ...part });
  return '';
}

const quoted = (names: string[]) => `'{${names.join(',')}}'::text[]`;

const CHANGE = '(organization_id, resource, resource_id, op, verb, changed, about, within)';

const NEW_CHANGE = `INSERT INTO event_changes ${CHANGE}`;

/** Reads a record as the API calls its fields. */
class Teller {
  constructor(private readonly emitter: Emitter) {}

  private name(key: string): string {
    const cases = Object.entries(this.emitter.as).map(([column, field]) => `WHEN '${column}' THEN '${field}'`);
    return cases.length > 0 ? `CASE ${key} ${cases.join(' ')} ELSE ${key} END` : key;
  }

  /** Whether a field is told beside every change: the ids that a row names, and its state. */
  private isAbout(): string {
    const { id, never, organization } = this.emitter;
    return `(e.key LIKE '%\\_id' OR e.key = 'status') AND e.key <> ALL (${quoted([id, organization, ...never])}) AND e.value <> 'null'`;
  }

  /** Of the row itself, so that many new people cost no look-up of their logins. */
  about(alias: string): string {
    return `(SELECT jsonb_object_agg(${this.name('e.key')}, e.value) FROM jsonb_each(to_jsonb(${alias})) e WHERE ${this.isAbout()})`;
  }

  /** The fields that differ between `o` and `n`, and what is told beside them, as `d`; in one pass, if the row is what is shown. */
  difference(): string {
    const { never, derived, shape } = this.emitter;
    const of = (alias: string) => (shape ? `(SELECT to_jsonb(s) FROM (${shape(alias)}) s)` : `to_jsonb(${alias})`);
    const differs = [
      'e.value IS DISTINCT FROM was.was -> e.key',
      ...(never.length > 0 ? [`e.key <> ALL (${quoted(never)})`] : []),
    ];
    const computed = Object.entries(derived).map(([field, value]) => `CASE WHEN ${value('o')} IS DISTINCT FROM ${value('n')} THEN '${field}' END`); // prettier-ignore
    const fields = `coalesce(array_agg(DISTINCT ${this.name('e.key')}) FILTER (WHERE ${differs.join(' AND ')}), '{}')`;
    const all =
      computed.length > 0
        ? `ARRAY(SELECT DISTINCT f FROM unnest(${fields} || ARRAY[${computed.join(', ')}]) f WHERE f IS NOT NULL)`
        : fields;
    const about = shape
      ? this.about('n')
      : `jsonb_object_agg(${this.name('e.key')}, e.value) FILTER (WHERE ${this.isAbout()})`;
    // OFFSET 0: else it would be computed for each field.
    return `(SELECT ${all} AS changed, ${about} AS about
          FROM (SELECT ${of('o')} AS was OFFSET 0) was, jsonb_each(${of('n')}) e) AS d`;
  }

  row(alias: string, op: 'I' | 'U' | 'D', verb: string, changed = `'{}'::text[]`, about = this.about(alias)): string {
    const { organization, resource, id, within } = this.emitter;
    return `SELECT ${alias}.${organization}, '${resource}', ${alias}.${id}, '${op}', ${verb}, ${changed}, ${about}, ${within ? `${alias}.${within}` : 'NULL::uuid'}`;
  }

  seen(alias: string): string {
    const { organization, sight } = this.emitter;
    return `${alias}.${organization} IS NOT NULL${sight ? ` AND (${sight(alias)})` : ''}`;
  }

  verbs(when: 'inserted' | 'updated'): string {
    const cases = Object.entries(this.emitter.verbs).flatMap(([verb, { [when]: condition }]) =>
      condition ? [`WHEN ${condition} THEN '${verb}'`] : [],
    );
    return cases.length > 0 ? `CASE ${cases.join(' ')} END` : 'NULL::text';
  }

  gone(): string {
    const cases = Object.entries(this.emitter.gone ?? {}).map(([verb, { when }]) => `WHEN ${when} THEN '${verb}'`);
    return cases.length > 0 ? `CASE ${cases.join(' ')} END` : 'NULL::text';
  }
}

/** The statements of a table's trigger, by what has happened to its rows. */
type Statements = Record<'INSERT' | 'UPDATE' | 'DELETE', string[]>;

/** What a trigger of a table does for a record. */
function statementsOf(emitter: Emitter): Statements {
  const teller = new Teller(emitter);
  const { organization, plain, verbs } = emitter;
  const begins = plain.includes('created') || Object.values(verbs).some(({ inserted }) => inserted);
  const both = 'FROM (SELECT OLD.*) o, (SELECT NEW.*) n';
  const [was, is, same] = [teller.seen('o'), teller.seen('n'), `o.${organization} = n.${organization}`];
  // Rows that come into sight or leave it by a change.
  const moves = emitter.sight !== undefined || emitter.moves;
  return {
    INSERT: begins ? [`${NEW_CHANGE} ${teller.row('n', 'I', teller.verbs('inserted'))} FROM after n WHERE ${is}`] : [],
    DELETE: plain.includes('deleted')
      ? [`${NEW_CHANGE} ${teller.row('o', 'D', 'NULL::text')} FROM before o WHERE ${was}`]
      : [],
    UPDATE: [
      `${NEW_CHANGE} SELECT t.* FROM (${teller.row('n', 'U', teller.verbs('updated'), 'd.changed', 'd.about')}
        ${both} CROSS JOIN LATERAL ${teller.difference()} WHERE ${moves ? `(${was}) AND (${is}) AND ${same}` : is}) AS t ${CHANGE}
        WHERE t.verb IS NOT NULL${plain.includes('updated') ? ` OR t.changed <> '{}'` : ''}`,
      ...(moves
        ? [
            `${NEW_CHANGE} ${teller.row('o', 'D', teller.gone())} ${both} WHERE (${was}) AND NOT coalesce(${is} AND ${same}, false)`,
            `${NEW_CHANGE} ${teller.row('n', 'I', 'NULL::text')} ${both} WHERE (${is}) AND NOT coalesce(${was} AND ${same}, false)`,
          ]
        : []),
    ],
  };
}

/** What a trigger of a part does for its record. */
function statementsOfPart({ table, of, resource, on, fields, where, onlyUpdates = false }: Part): Statements {
  const whole = EMITTERS.find((one) => one.table === of && one.resource === resource);
  if (!whole) throw new Error(`${table} is part of ${resource}, which ${of} does not emit`);
  const teller = new Teller(whole);
  const told = (differs: (column: string) => string) => {
    const cases = Object.entries(fields).flatMap(([column, names]) => names.map((name) => `CASE WHEN ${differs(column)} THEN '${name}' END`)); // prettier-ignore
    return `array_remove(ARRAY[${cases.join(', ')}], NULL) AS told`;
  };
  // Of a row that has moved, both records are told; of others, the one once.
  const tell = (
    rows: string,
  ) => `${NEW_CHANGE} SELECT DISTINCT t.* FROM (${teller.row('p', 'U', 'NULL::text', 'c.told')}
        FROM (${rows}) c JOIN ${of} p ON ${on}
        WHERE c.told <> '{}' AND ${teller.seen('p')}${where ? ` AND (${where})` : ''}) AS t ${CHANGE}`;
  const whether = (rows: string) => (onlyUpdates ? [] : [tell(`SELECT r.*, ${told((column) => `r.${column} IS NOT NULL`)} FROM ${rows} r`)]); // prettier-ignore
  const differs = told((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`);
  return {
    INSERT: whether('after'),
    DELETE: whether('before'),
    UPDATE: [tell(`SELECT OLD.*, ${differs} UNION ALL SELECT NEW.*, ${differs}`)],
  };
}

/** The statements of every table that tells of changes, of its own rows or of another record's. */
export function tellings(): Map<string, Statements> {
  const all = new Map<string, Statements>();
  for (const { table } of [...EMITTERS, ...PARTS]) {
    const parts = [
      ...EMITTERS.filter((one) => one.table === table).map(statementsOf),
      ...PARTS.filter((one) => one.table === table).map(statementsOfPart),
    ];
    const of = (event: keyof Statements) => parts.flatMap((part) => part[event]);
    all.set(table, { INSERT: of('INSERT'), UPDATE: of('UPDATE'), DELETE: of('DELETE') });
  }
  return all;
}

/**
 * The triggers of all tables that tell. An update is told row by row: what pairs the old and new rows of a statement is
 * planned once for all later ones, and for few rows as each with each, which takes minutes for some thousands.
 */
export function tellTriggers(): string {
  return [...tellings()]
    .map(([table, statements]) => {
      const events = (['INSERT', 'DELETE'] as const).filter((event) => statements[event].length > 0);
      const columns = (row: string) => PARTS.filter((one) => one.table === table).flatMap(({ fields }) => Object.keys(fields).map((column) => `${row}.${column}`)).join(', '); // prettier-ignore
      const record = EMITTERS.some((one) => one.table === table);
      const differs = record ? 'OLD *<> NEW' : `(${columns('OLD')}) IS DISTINCT FROM (${columns('NEW')})`;
      return `${onRows(table, 'tell', events, `tell_${table}()`)}
  CREATE TRIGGER tell_on_update AFTER UPDATE ON ${table} FOR EACH ROW WHEN (${differs}) EXECUTE FUNCTION tell_${table}();`;
    })
    .join('\n');
}

/** Their functions. @param asOwner the attributes of functions that work across organizations */
export function tellFunctions(asOwner: string): string {
  return [...tellings()]
    .map(([table, statements]) => {
      const body = (event: keyof Statements) => statements[event].map((one) => `      ${one};`).join('\n');
      return `CREATE FUNCTION tell_${table}() RETURNS trigger LANGUAGE plpgsql ${asOwner} AS $$
  BEGIN
    IF current_setting('app.untold', true) = 'on' THEN
      RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
${body('INSERT')}
    ELSIF TG_OP = 'UPDATE' THEN
${body('UPDATE')}
    ELSE
${body('DELETE')}
    END IF;
    RETURN NULL;
  END $$;`;
    })
    .join('\n\n');
}
