import { account } from './grants/account.js';
import { blog } from './grants/blog.js';
import { enquiries } from './grants/enquiries.js';
import { erasure } from './grants/erasure.js';
import { events } from './grants/events.js';
import { exports } from './grants/exports.js';
import { families } from './grants/families.js';
import { jobs } from './grants/jobs.js';
import { lessons } from './grants/lessons.js';
import { messages } from './grants/messages.js';
import { money } from './grants/money.js';
import { moves } from './grants/moves.js';
import { people } from './grants/people.js';
import { scheduling } from './grants/scheduling.js';
import { signIn } from './grants/sign-in.js';
import { teaching } from './grants/teaching.js';
import { webhooks } from './grants/webhooks.js';

export type { ProcessRole } from './grants/grants.js';

/** The variable with each role's URL. */
export const ROLE_SETTINGS = {
  api: 'DATABASE_URL',
  worker: 'WORKER_DATABASE_URL',
  portal: 'PORTAL_DATABASE_URL',
} as const;

const AREAS = [
  account,
  signIn,
  people,
  teaching,
  scheduling,
  enquiries,
  lessons,
  money,
  messages,
  blog,
  events,
  jobs,
  webhooks,
  erasure,
  exports,
  moves,
  families,
];

/** The rights of all areas. `migrate` applies them, and each process compares its own rights with them at start. */
export const TABLE_GRANTS = Object.fromEntries(AREAS.flatMap(({ tables }) => Object.entries(tables)));
export const FUNCTION_GRANTS = Object.fromEntries(AREAS.flatMap(({ functions }) => Object.entries(functions)));

/** One right, on the whole table or on some of its columns. */
export interface Right {
  privilege: string;
  columns: string[] | null;
}

/** Parses an entry of {@link TABLE_GRANTS}. */
export function rightsOf(spelled = ''): Right[] {
  return [...spelled.matchAll(/([A-Z]+)(?: \(([^)]+)\))?/g)].map(([, privilege = '', columns]) => ({
    privilege,
    columns: columns ? columns.split(/,\s+/) : null,
  }));
}
