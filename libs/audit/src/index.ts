export { type ActingPerson, type Actor, OPERATOR } from './actor.js';
export { type AuditDetails, AuditLog } from './audit-log.js';
export { type Done, doneOf, type Exactly, type Result } from './done.js';
export {
  type ApiOperation, type IdNames, type Operation, operationInWords, type RecordOperation, type RecordPath, type Worded,
} from './operations.js'; // prettier-ignore
export { AuditModule } from './audit.module.js';
