import { account } from './functions/account.js';
import { accountDeletion } from './functions/account-deletion.js';
import { blog } from './functions/blog.js';
import { erasure } from './functions/erasure.js';
import { events } from './functions/events.js';
import { exports } from './functions/exports.js';
import { families } from './functions/families.js';
import { jobs } from './functions/jobs.js';
import { joining } from './functions/joining.js';
import { messages } from './functions/messages.js';
import { money } from './functions/money.js';
import { moves } from './functions/moves.js';
import { passkeys } from './functions/passkeys.js';
import { passwords } from './functions/passwords.js';
import { people } from './functions/people.js';
import { repair } from './functions/repair.js';
import { scheduling } from './functions/scheduling.js';
import { signIn } from './functions/sign-in.js';
import { teaching } from './functions/teaching.js';
import { turns } from './functions/turns.js';
import { webhooks } from './functions/webhooks.js';

const FUNCTIONS = [
  moves,
  account,
  people,
  joining,
  signIn,
  passwords,
  passkeys,
  teaching,
  scheduling,
  money,
  messages,
  blog,
  events,
  jobs,
  turns,
  exports,
  webhooks,
  erasure,
  accountDeletion,
  families,
  repair,
].join('\n');

interface Queryable {
  query<Rows>(sql: string): Promise<Rows>;
}

/**
 * The functions that the database lacks, or has otherwise than pg_temp, as PostgreSQL writes them. outdated: one of the
 * same name, but with other parameters or another result, which CREATE OR REPLACE cannot change.
 */
const DIFFERENT = `
  WITH defined AS (
    SELECT oid, pronamespace, proname, pg_get_function_arguments(oid) || ' ' || pg_get_function_result(oid) AS signature,
      regexp_replace(pg_get_functiondef(oid), '^(CREATE OR REPLACE FUNCTION )[^.]+', '\\1public') AS definition
    FROM pg_proc WHERE pronamespace IN (pg_my_temp_schema(), 'public'::regnamespace) AND prokind = 'f')
  SELECT w.proname AS name, w.definition, CASE WHEN w.signature <> p.signature THEN p.oid::regprocedure::text END AS outdated
  FROM defined w LEFT JOIN defined p ON p.proname = w.proname AND p.pronamespace = 'public'::regnamespace
  WHERE w.pronamespace = pg_my_temp_schema() AND w.definition IS DISTINCT FROM p.definition ORDER BY 1`;

interface Difference {
  name: string;
  definition: string;
  outdated: string | null;
}

/** Compares the functions of the database with the files, for the owner. Call it in a transaction. */
export async function differentFunctions(owner: Queryable): Promise<Difference[]> {
  await owner.query('SET LOCAL check_function_bodies = off; SAVEPOINT files; SET LOCAL search_path = pg_temp, public');
  await owner.query(FUNCTIONS);
  const different = await owner.query<Difference[]>(DIFFERENT);
  await owner.query('ROLLBACK TO SAVEPOINT files');
  return different;
}

/**
 * Creates the functions that the database lacks and replaces those that differ from the files. Call it in a transaction.
 * Functions that the files do not name stay.
 *
 * @returns their names
 */
export async function replaceFunctions(owner: Queryable): Promise<string[]> {
  const different = await differentFunctions(owner);
  for (const { definition, outdated } of different) {
    if (outdated) await owner.query(`DROP FUNCTION ${outdated}`);
    await owner.query(definition);
  }
  return different.map(({ name }) => name);
}
