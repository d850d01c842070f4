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
  /** The column of its public id, and those of the primary key. */
  id: string;
  key: string[];
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
  key: string[];
  /** The record's table and name. */
  of: string;
  resource: string;
  /** SQL that joins a row `c` with its record `p`. */
  on: string;
  /** The fields of the record that each column changes. */
  fields: Record<string, string[]>;
  /** SQL over `c`: only these rows. */
  where?: string;
}

const EMITTERS: Emitter[] = [];
const PARTS: Part[] = [];

export const emitters = (): readonly Emitter[] => EMITTERS;

/** The tables that tell of changes, of their own or of another record's. */
export const tellingTables = (): Set<string> => new Set([...EMITTERS, ...PARTS].map(({ table }) => table));

type Wanted = Pick<Emitter, 'resource' | 'noun' | 'list'> & Partial<Emitter>;

/** The triggers of a table that tells. They are made once, however many declarations there are. */
function triggers(table: string): string {
  const told = [...EMITTERS, ...PARTS].filter((one) => one.table === table).length;
  if (told > 1) return '';
  return (
    [
      ['insert', 'REFERENCING NEW TABLE AS after'],
      ['update', 'REFERENCING OLD TABLE AS before NEW TABLE AS after'],
      ['delete', 'REFERENCING OLD TABLE AS before'],
    ] as const
  )
    .map(
      ([event, rows]) => `CREATE TRIGGER tell_on_${event} AFTER ${event.toUpperCase()} ON ${table} ${rows}
    FOR EACH STATEMENT EXECUTE FUNCTION tell_${table}();`,
    )
    .join('\n  ');
}

/** Rows of this table are records of the API: each change of one is an event. @see docs/events.md */
export function emits(table: string, wanted: Wanted): string {
  EMITTERS.push({
    ...{
      table,
      path: `${wanted.list}/{id}`,
      id: 'id',
      key: [wanted.id ?? 'id'],
      never: [],
      as: {},
      derived: {},
      verbs: {},
    },
    ...{ plain: ['created', 'updated', 'deleted'], organization: 'organization_id' },
    ...wanted,
  });
  return triggers(table);
}

/** A change of such a row is an update of another record. */
export function partOf(table: string, part: Omit<Part, 'table' | 'key'> & { key?: string[] }): string {
  PARTS.push({ table, key: ['id'], ...part });
  return triggers(table);
}

const quoted = (names: string[]) => `'{${names.join(',')}}'::text[]`;

const NEW_CHANGE = `INSERT INTO event_changes
        (organization_id, resource, resource_id, op, verb, changed, about, within)`;

/** Reads a record as the API calls its fields. */
class Teller {
  constructor(private readonly emitter: Emitter) {}

  private json(alias: string): string {
    const { shape } = this.emitter;
    return shape ? `(SELECT row_to_json(s) FROM (${shape(alias)}) s)` : `row_to_json(${alias})`;
  }

  private name(key: string): string {
    const cases = Object.entries(this.emitter.as).map(([column, field]) => `WHEN '${column}' THEN '${field}'`);
    return cases.length > 0 ? `CASE ${key} ${cases.join(' ')} ELSE ${key} END` : key;
  }

  /** The ids that a row names, and its state: of the row itself, so that many new people cost no look-up of their logins. */
  about(alias: string): string {
    const { id, never, organization } = this.emitter;
    return `(SELECT jsonb_object_agg(${this.name('e.key')}, e.value) FROM json_each(row_to_json(${alias})) e
          WHERE (e.key LIKE '%\\_id' OR e.key = 'status') AND e.key <> ALL (${quoted([id, organization, ...never])})
            AND e.value::text <> 'null')`;
  }

  /** The fields that differ. */
  changed(): string {
    const { never, derived } = this.emitter;
    const computed = Object.entries(derived).map(
      ([field, value]) => ` UNION SELECT '${field}' WHERE ${value('o')} IS DISTINCT FROM ${value('n')}`,
    );
    return `ARRAY(SELECT DISTINCT ${this.name('d.key')} FROM ROWS FROM (json_each(${this.json('o')}), json_each(${this.json('n')}))
          AS d (key, was, same_key, is_now) WHERE d.was::text IS DISTINCT FROM d.is_now::text${never.length > 0 ? ` AND d.key <> ALL (${quoted(never)})` : ''}${computed.join('')} ORDER BY 1)`;
  }

  row(alias: string, op: 'I' | 'U' | 'D', verb: string, changed = `'{}'::text[]`): string {
    const { organization, resource, id, within } = this.emitter;
    return `SELECT ${alias}.${organization}, '${resource}', ${alias}.${id}, '${op}', ${verb}, ${changed}, ${this.about(alias)}, ${within ? `${alias}.${within}` : 'NULL::uuid'}`;
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

/** What a trigger of a table does for a record. */
function statementsOf(emitter: Emitter) {
  const teller = new Teller(emitter);
  const both = emitter.key.map((column) => `n.${column} = o.${column}`).join(' AND ');
  const { organization } = emitter;
  const told = (plain: 'created', when: 'inserted') => emitter.plain.includes(plain) || Object.values(emitter.verbs).some((verb) => verb[when]); // prettier-ignore
  // Rows that come into sight or leave it by a change.
  const moves = emitter.sight !== undefined || emitter.moves;
  const stays = moves
    ? `(${teller.seen('o')}) AND (${teller.seen('n')}) AND o.${organization} = n.${organization}`
    : teller.seen('n');
  const appears = `(${teller.seen('n')}) AND NOT coalesce(${teller.seen('o')} AND o.${organization} = n.${organization}, false)`;
  const leaves = `(${teller.seen('o')}) AND NOT coalesce(${teller.seen('n')} AND o.${organization} = n.${organization}, false)`;
  return {
    insert: told('created', 'inserted')
      ? [`${NEW_CHANGE} ${teller.row('n', 'I', teller.verbs('inserted'))} FROM after n WHERE ${teller.seen('n')}`]
      : [],
    delete: emitter.plain.includes('deleted')
      ? [`${NEW_CHANGE} ${teller.row('o', 'D', 'NULL::text')} FROM before o WHERE ${teller.seen('o')}`]
      : [],
    update: [
      `${NEW_CHANGE} SELECT t.* FROM (${teller.row('n', 'U', teller.verbs('updated'), teller.changed())}
        FROM before o JOIN after n ON ${both} WHERE ${stays}) AS t (organization_id, resource, resource_id, op, verb, changed, about, within)
        WHERE t.verb IS NOT NULL${emitter.plain.includes('updated') ? ` OR t.changed <> '{}'` : ''}`,
      ...(moves
        ? [
            `${NEW_CHANGE} ${teller.row('o', 'D', teller.gone())} FROM before o JOIN after n ON ${both} WHERE ${leaves}`,
            `${NEW_CHANGE} ${teller.row('n', 'I', 'NULL::text')} FROM before o JOIN after n ON ${both} WHERE ${appears}`,
          ]
        : []),
    ],
  };
}

/** What a trigger of a part does for its record. */
function statementsOfPart({ table, of, resource, on, key, fields, where }: Part) {
  const whole = EMITTERS.find((one) => one.table === of && one.resource === resource);
  if (!whole) throw new Error(`${table} is part of ${resource}, which ${of} does not emit`);
  const teller = new Teller(whole);
  const changed = (differs: (column: string) => string) => {
    const cases = Object.entries(fields).flatMap(([column, names]) => names.map((name) => `CASE WHEN ${differs(column)} THEN '${name}' END`)); // prettier-ignore
    return `array_remove(ARRAY[${cases.join(', ')}], NULL)`;
  };
  const tell = (rows: string) => `${NEW_CHANGE} ${teller.row('p', 'U', 'NULL::text', 'c.told')}
        FROM (${rows}) c JOIN ${of} p ON ${on}
        WHERE c.told <> '{}' AND ${teller.seen('p')}${where ? ` AND (${where})` : ''}`;
  const both = key.map((column) => `n.${column} = o.${column}`).join(' AND ');
  const differs = changed((column) => `o.${column} IS DISTINCT FROM n.${column}`);
  const one = (alias: string, rows: string) => tell(`SELECT ${alias}.*, ${changed((column) => `${alias}.${column} IS NOT NULL`)} AS told FROM ${rows} ${alias}`); // prettier-ignore
  return {
    insert: [one('n', 'after')],
    delete: [one('o', 'before')],
    update: [
      tell(`SELECT o.*, ${differs} AS told FROM before o JOIN after n ON ${both}
          UNION ALL SELECT n.*, ${differs} AS told FROM before o JOIN after n ON ${both}`),
    ],
  };
}

/** The trigger functions of all tables that tell. @param asOwner the attributes of functions that work across organizations */
export function tellFunctions(asOwner: string): string {
  return [...tellingTables()]
    .map((table) => {
      const parts = [
        ...EMITTERS.filter((one) => one.table === table).map(statementsOf),
        ...PARTS.filter((one) => one.table === table).map(statementsOfPart),
      ];
      const body = (event: 'insert' | 'update' | 'delete') => parts.flatMap((part) => part[event]).map((one) => `      ${one};`).join('\n'); // prettier-ignore
      return `CREATE FUNCTION tell_${table}() RETURNS trigger LANGUAGE plpgsql ${asOwner} AS $$
  BEGIN
    IF current_setting('app.untold', true) = 'on' THEN
      RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' THEN
${body('insert')}
    ELSIF TG_OP = 'UPDATE' THEN
${body('update')}
    ELSE
${body('delete')}
    END IF;
    RETURN NULL;
  END $$;`;
    })
    .join('\n\n');
}
