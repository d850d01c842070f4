export { type ActingPerson, type Actor, OPERATOR } from './actor.js';
export { type AuditDetails, AuditLog } from './audit-log.js';
export { type ApiOperation, type Operation, operationInWords } from './operations.js';
export { AuditModule } from './audit.module.js';
