import { ERASING, type Erasing, MINE } from './erasure.js';

const ownOf = ({ own = MINE }: Erasing) => own;

const namesOf = (erasing: Erasing) => Object.entries(erasing.names ?? {});

/** SQL: which rows go, if any do. */
function goesOf(erasing: Erasing): string | null {
  const named = namesOf(erasing).flatMap(([column, becomes]) => {
    if (typeof becomes === 'object') return [`t.${column} = person AND ${becomes.goes}`];
    return becomes === 'goes' ? [`t.${column} = person`] : [];
  });
  const all = [...named, ...(erasing.goes ? [erasing.goes] : [])];
  return all.length > 0 ? all.map((one) => `(${one})`).join(' OR ') : null;
}

/** The columns that stay in their rows, and which of them another person takes. */
function stayingOf(erasing: Erasing): { column: string; replaced: boolean }[] {
  return namesOf(erasing).flatMap(([column, becomes]) => {
    const staying = typeof becomes === 'object' ? becomes.or : becomes;
    return staying === 'goes' ? [] : [{ column, replaced: staying === 'replaced' }];
  });
}

/** As plpgsql: what erase_person does with a table. */
function statementsOf(table: string, erasing: Erasing): string {
  const own = ownOf(erasing);
  const goes = goesOf(erasing);
  const staying = stayingOf(erasing);
  const sets = [
    ...staying.map(({ column, replaced }) => `${column} = CASE WHEN t.${column} = person THEN ${replaced ? 'alias' : 'NULL'} ELSE t.${column} END`),
    ...Object.entries(erasing.empties ?? {}).map(([column, { of, to = 'NULL' }]) => `${column} = CASE WHEN ${of.map((one) => `t.${one} = person`).join(' OR ')} THEN ${to} ELSE t.${column} END`),
  ]; // prettier-ignore
  const named = staying.map(({ column }) => `t.${column} = person`).join(' OR ');
  const counted = (kind: 'erased' | 'changed') => `
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n > 0 THEN ${kind} := ${kind} || jsonb_build_object('${table}', n); END IF;`;
  return [
    erasing.first && `    ${erasing.first};`,
    goes && `    DELETE FROM ${table} t WHERE ${own} AND (${goes});${counted('erased')}`,
    staying.length > 0 &&
      `    UPDATE ${table} t SET ${sets.join(', ')} WHERE ${own} AND (${named});${counted('changed')}`,
  ]
    .filter(Boolean)
    .join('\n');
}

const TABLES = Object.entries(ERASING);

/** As plpgsql: what becomes of the rows of all tables but `users`. */
export const ERASE_ROWS = TABLES.filter(([table]) => table !== 'users')
  .map(([table, erasing]) => statementsOf(table, erasing))
  .join('\n');

/** The same, of the login itself. */
export const ERASE_LOGIN = statementsOf('users', ERASING.users!);

/** SQL: whether a row stays in which somebody without a name has to take the person's place. */
export const NEEDS_ALIAS = TABLES.flatMap(([table, erasing]) =>
  namesOf(erasing).flatMap(([column, becomes]) => {
    const replaced = becomes === 'replaced' || (typeof becomes === 'object' && becomes.or === 'replaced');
    const rest = typeof becomes === 'object' ? ` AND NOT (${becomes.goes})` : '';
    return replaced ? [`EXISTS (SELECT FROM ${table} t WHERE ${ownOf(erasing)} AND t.${column} = person${rest})`] : [];
  }),
).join('\n      OR ');
