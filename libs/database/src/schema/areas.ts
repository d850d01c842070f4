import { account } from './account.js';
import { blog } from './blog.js';
import { calendars } from './calendars.js';
import { claims } from './claims.js';
import { enquiries } from './enquiries.js';
import { erasures } from './erasures.js';
import { type Emitter, emitters, tellings, tellTriggers } from './emits.js';
import { type EventType, eventTypes, events } from './events.js';
import { exports } from './exports.js';
import { jobs } from './jobs.js';
import { families } from './families.js';
import { lessons } from './lessons.js';
import { messages } from './messages.js';
import { money } from './money.js';
import { moves } from './moves.js';
import { people } from './people.js';
import { scheduling } from './scheduling.js';
import { signIn } from './sign-in.js';
import { teaching } from './teaching.js';
import { webhooks } from './webhooks.js';

/** The tables of each area, after those that they refer to. */
export const AREAS = {
  account,
  signIn,
  people,
  teaching,
  scheduling,
  calendars,
  enquiries,
  lessons,
  money,
  claims,
  messages,
  blog,
  events,
  jobs,
  webhooks,
  erasures,
  exports,
  moves,
  families,
};

/** What can happen to records, from what their tables declare. */
export const EVENT_TYPES: readonly EventType[] = eventTypes();

/** The tables whose changes are told. */
export const TELLING: ReadonlySet<string> = new Set(tellings().keys());

/** The records that events are about. */
export const TOLD: readonly Emitter[] = emitters();

/** What subscribers may name: a type, or all of a kind, as `session.*`. */
export const EVENT_NAMES: readonly string[] = [
  ...new Set(EVENT_TYPES.flatMap(({ type }) => [type.replace(/[^.]+$/, '*'), type])),
];

/** Statements that need functions, whose signatures in turn may need tables. */
const NEEDS_FUNCTIONS = /^(\s*--.*\n)*\s*(ALTER TABLE|CREATE POLICY|CREATE (CONSTRAINT )?TRIGGER) /;

const statements = Object.values(AREAS).flatMap((area) => area.split(/(?<=;)\n/));

/** Creates tables and indexes. */
export const TABLES = statements.filter((statement) => !NEEDS_FUNCTIONS.test(statement)).join('\n');

/** Creates triggers and policies, after the functions. */
export const TRIGGERS_AND_POLICIES = [
  ...statements.filter((statement) => NEEDS_FUNCTIONS.test(statement)),
  tellTriggers(),
].join('\n');
