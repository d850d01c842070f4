import { account } from './functions/account.js';
import { blog } from './functions/blog.js';
import { jobs } from './functions/jobs.js';
import { joining } from './functions/joining.js';
import { messages } from './functions/messages.js';
import { passkeys } from './functions/passkeys.js';
import { passwords } from './functions/passwords.js';
import { people } from './functions/people.js';
import { repair } from './functions/repair.js';
import { scheduling } from './functions/scheduling.js';
import { signIn } from './functions/sign-in.js';
import { teaching } from './functions/teaching.js';

const FUNCTIONS = [
  account,
  people,
  joining,
  signIn,
  passwords,
  passkeys,
  teaching,
  scheduling,
  messages,
  blog,
  jobs,
  repair,
].join('\n');

interface Queryable {
  query<Rows>(sql: string): Promise<Rows>;
}

interface FunctionRow {
  name: string;
  /** What CREATE OR REPLACE cannot change. */
  signature: string;
  /** The statement that creates it, as PostgreSQL writes it. */
  definition: string;
}

/** The functions of a schema, except those of extensions. */
function definitions(schema: string): string {
  return `SELECT proname AS name, pg_get_function_arguments(oid) || ' ' || pg_get_function_result(oid) AS signature,
      regexp_replace(pg_get_functiondef(oid), '^(CREATE OR REPLACE FUNCTION )[^.]+', '\\1public') AS definition
    FROM pg_proc p WHERE pronamespace = ${schema}
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e') ORDER BY proname`;
}

/**
 * Creates the functions that the database lacks and replaces those that differ from the files. Call it in a transaction.
 * What the files do not name stays. Objects that depend on a function keep its signature from changing.
 *
 * @returns their names
 */
export async function replaceFunctions(owner: Queryable): Promise<string[]> {
  await owner.query(`SAVEPOINT files; SET LOCAL search_path = pg_temp, public; SET LOCAL check_function_bodies = off`);
  await owner.query(FUNCTIONS);
  const wanted = await owner.query<FunctionRow[]>(definitions('pg_my_temp_schema()'));
  await owner.query('ROLLBACK TO SAVEPOINT files; SET LOCAL check_function_bodies = off');
  const present = await owner.query<FunctionRow[]>(definitions(`'public'::regnamespace`));
  const different = wanted.filter(({ definition }) => !present.some((it) => it.definition === definition));
  for (const { name, signature, definition } of different) {
    const other = present.some((it) => it.name === name && it.signature !== signature);
    if (other) await owner.query(`DROP FUNCTION ${name}`);
    await owner.query(definition);
  }
  return different.map(({ name }) => name);
}
