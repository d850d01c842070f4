export { type Away, awayOf } from './away.js';
export { type CodedTable, findId, findIds, idOf, isArchivable, namable } from './coded.js';
export { Database } from './database.js';
export type { Proof, Tenant } from './tenant.js';
export { MOST_BEHIND } from './replicas/positions.js';
export { DatabaseModule } from './database.module.js';
export { Deadline, DeadlineExceeded } from './deadline.js';
export { DatabaseFault, inWords } from './database-fault.js';
export { connect, type ConnectionOptions } from './data-source.js';
export { correctCopies, type Counter, recountLists, sumOf } from './derived-data.js';
export { caseless, digitsOf, hasDigit } from './folding.js';
export {
  type Broken,
  brokenInvariants,
  INVARIANT_NAMES,
  type InvariantName,
  INVARIANTS,
  OF_ROWS,
} from './invariants/invariants.js';
export { COPIED } from './invariants/sight.js';
export { behind, type Page, pageOf, type Position } from './keyset.js';
export { lockNumber, recordLock, tableLock } from './locks.js';
export { inLongTransaction } from './long-transaction.js';
export { migrate, revertLast } from './migrate.js';
export { pendingMigrations } from './applied-migrations.js';
export { FUNCTION_GRANTS, type ProcessRole, rightsOf, ROLE_SETTINGS, TABLE_GRANTS } from './grants.js';
export { refusePooler } from './pooler.js';
export { portionsOf } from './portions.js';
export { RetryTransaction } from './retry-transaction.js';
export { type ProcessUrls, roleFaults, rolePowers } from './roles.js';
export { driverErrorOf, SQLSTATE, sqlStateOf } from './sql-state.js';
export { MANAGES } from './schema/people.js';
export { IS_STAFF, MOST_CENTS, newestFirst, rulesOf, wordsOfCheck } from './schema/rules.js';
export { payRate, TAKES_PART, takesPart } from './schema/scheduling.js';
export { EVENT_NAMES, EVENT_TYPES, TELLING, TOLD } from './schema/areas.js';
export { type Emitter } from './schema/emits.js';
export { type EventType, UNTOLD } from './schema/events.js';
export { type VisibleColumn, visiblePerson } from './schema/visible-person.js';
export { differentFunctions } from './schema/functions.js';
export { BOOKING_REQUEST, CLAIM, EXPORT, INBOX, INVOICE, LEAD, RESULT, SESSION } from './schema/states.js';
export { type SessionSetting, settingFaults, settingsOf, type SettledRole } from './session-settings.js';
export { DERIVED_COLUMNS, EXPORTED_DATA, EXPORTED_HISTORY, NOT_EXPORTED, STATE_COLUMNS } from './schema/contents.js';
export { SideConnection } from './side-connection.js';
export { isUnavailable } from './unavailable.js';
export { canonicalUuid, type DateBound, isBlank, isStorable, isTimeZone, normalizeEmail, parseDate } from './values.js';
export { homeLock } from './schema/functions/moves.js';
export { wants } from './schema/functions/webhooks.js';
export { CORRECTABLE } from './schema/functions/joining.js';
export { lockRecord, transition } from './transition.js';
export { REQUIRED, type Tables, VALUES } from './tables.js';
export { KEPT, type KeptKind, type KeptName } from './schema/keeping.js';
export { ADJUSTMENT_NOTE } from './schema/money.js';
export { type Becomes, ERASING } from './schema/erasure.js';
export { LESSON_NEWS } from './schema/families.js';
export { UNTOUCHED } from './schema/untouched.js';
export { LASTING, RETENTION, RETENTION_SETTINGS, type RetentionSetting } from './schema/retention.js';
