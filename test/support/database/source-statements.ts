import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessRole } from '@app/database';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What only the operator's command line runs, as the owner. */
const OF_THE_OWNER = /^libs\/database\/src\/(schema\/(?!visible-person)|grants\/|migrations\/)|\/(tables|grants|migrate|roles|copies|schema)\.ts$/;

/** The columns that statements write: names, or any if the source computes them. */
export type Written = Set<string> | 'any';

/**
 * What a process's source says it does to tables. A file counts if the process's app, or a file that counts, imports
 * something of it that is more than a type; modules of libraries only list providers.
 */
export class SourceStatements {
  private constructor(
    readonly text: string,
    readonly inserts: Map<string, Written>,
    readonly updates: Map<string, Written>,
    readonly deletes: Set<string>,
  ) {}

  static of(role: ProcessRole): SourceStatements {
    return SourceStatements.in([...sourcesOf(role).values()].flatMap((text) => [text, ...withTablesNamed(text), ...ofRecords(text)]).join('\n'));
  }

  static in(source: string): SourceStatements {
    const text = source.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
    const inserts = new Map<string, Written>();
    const updates = new Map<string, Written>();
    for (const [, table, columns] of text.matchAll(/\bINSERT INTO (\w+)(?: AS \w+)?\s*\(([^)]*)\)/g)) {
      note(inserts, table!, columns!.includes('${') ? 'any' : columns!.split(/,\s*/).map((name) => name.trim()));
    }
    for (const [, table, set] of text.matchAll(/\bUPDATE (\w+)(?: (?!SET)(?:AS )?\w+)?\s+SET ([\s\S]*?)(?=\bWHERE\b|\bFROM\b|`)/g)) {
      note(updates, table!, assigned(set!));
    }
    for (const [, table, set] of text.matchAll(/\bINSERT INTO (\w+)(?:(?!INSERT INTO)[^;`])*?DO UPDATE\s+SET ([^`]*?)(?=\bWHERE\b|\bRETURNING\b|`)/g)) {
      note(updates, table!, assigned(set!));
    } // prettier-ignore
    const deletes = new Set([...text.matchAll(/\bDELETE FROM (\w+)/g)].map(([, table]) => table!));
    return new SourceStatements(text, inserts, updates, deletes);
  }

  /** Whether a statement reads the table: it is behind FROM or JOIN, or named as the source of a list. */
  reads(table: string): boolean {
    return new RegExp(`\\b(?:FROM|JOIN|USING)\\s+${table}\\b|'${table}'|,\\s+${table} [a-z]{1,2}\\b`).test(this.text);
  }

  locks(table: string): boolean {
    return new RegExp(`\\bFROM ${table}\\b[^\`]*\\bFOR (?:NO KEY )?(?:UPDATE|SHARE)\\b`).test(this.text);
  }

  mentions(word: string): boolean {
    return new RegExp(`\\b${word}\\b`).test(this.text);
  }

  calls(name: string): boolean {
    return new RegExp(`\\b${name}\\(`).test(this.text);
  }
}

function note(into: Map<string, Written>, table: string, columns: string[] | 'any'): void {
  const known = into.get(table);
  into.set(table, known === 'any' || columns === 'any' ? 'any' : new Set([...(known ?? []), ...columns]));
}

/** The statements of a file that takes the table from a list, once for each table that the file names with `raw`. */
function withTablesNamed(text: string): string[] {
  const statements = [/INSERT INTO (?=\$\{)/.test(text) && 'INSERT INTO $ (${})', /UPDATE (?=\$\{)|DO UPDATE/.test(text) && 'UPDATE $ SET ${} WHERE', /DELETE FROM (?=\$\{)/.test(text) && 'DELETE FROM $ WHERE'];
  const tables = [...text.matchAll(/\braw\('(\w+)'\)/g)].map(([, name]) => name!);
  const isDynamic = /(?:INSERT INTO|UPDATE|DELETE FROM) \$\{/.test(text);
  return isDynamic ? statements.flatMap((one) => (one ? tables.map((table) => one.replace('$', table)) : [])) : [];
} // prettier-ignore

/** What the calls of `transition` and `lockRecord` send, and what `Rows` does to the tables that are declared for it. */
function ofRecords(text: string): string[] {
  const rows = [...text.matchAll(/: RowTable = \{\s*table: '(\w+)'/g)].map(([, table]) => table!);
  const calls = text.matchAll(/\b(transition|lockRecord)(?:<[^(]*>)?\(\s*this\.db,\s*'(\w+)'/g);
  return [
    ...[...calls].map(([, name, table]) => `\`FROM ${table} FOR UPDATE;${name === 'transition' ? ` UPDATE ${table} SET \${} WHERE` : ''}\``),
    ...rows.map((table) => `\`INSERT INTO ${table} (\${}); UPDATE ${table} SET \${} WHERE; DELETE FROM ${table} WHERE\``),
  ];
}

const assigned = (set: string) => (/^\s*\$\{/.test(set) ? 'any' : [...set.matchAll(/(?:^|,)\s*(\w+) =/g)].map(([, name]) => name!));

/** The text of each file that the process runs. */
function sourcesOf(role: ProcessRole): Map<string, string> {
  const found = new Map<string, string>();
  const queue = [...filesOf(`apps/${role}/src`), ...filesOf('libs/database/src')].filter((path) => !OF_THE_OWNER.test(path));
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path) || OF_THE_OWNER.test(path) || /^libs\/.*\.module\.ts$/.test(path)) continue;
    const text = readFileSync(join(ROOT, path), 'utf8');
    found.set(path, text);
    for (const [, kind, names, from] of text.matchAll(/(?:import|export) (type )?(?:\{([^}]*)\}|[\w*]+(?: as \w+)?) from '([^']+)'/g)) {
      if (kind || !/^[.@]/.test(from!)) continue;
      const values = (names ?? '').split(',').map((name) => name.trim()).filter((name) => name && !name.startsWith('type '));
      if (names !== undefined && values.length === 0) continue;
      if (from!.startsWith('.')) queue.push(at(path, from!));
      else if (from!.startsWith('@app/')) queue.push(...exporters(from!.slice(5), values.map((name) => name.split(' as ')[0]!)));
    }
  }
  return found;
} // prettier-ignore

const filesOf = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((name) => join(folder, name));

/** The file that a relative import names. */
function at(importer: string, from: string): string {
  const path = resolve(ROOT, dirname(importer), from).slice(ROOT.length).replace(/^\//, '').replace(/\.js$/, '.ts');
  if (!existsSync(join(ROOT, path))) throw new Error(`${importer} imports ${from}, which is not there`);
  return path;
}

/** The files of a library from which its index exports the names. */
function exporters(library: string, names: string[]): string[] {
  const index = `libs/${library}/src/index.ts`;
  const exports = [...readFileSync(join(ROOT, index), 'utf8').matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g)];
  return exports.filter(([, listed]) => names.some((name) => new RegExp(`\\b${name}\\b`).test(listed!))).map(([, , from]) => at(index, from!));
}
