/** The door of `http/`: all that areas use of it. Nothing in `http/` imports this file. */
export { Fault, Faults, kinds, MALFORMED_ADDRESS } from '@app/fields';
export { CurrentCaller, RequireAnyScope, RequirePlatformBlog, RequireScopes } from './auth/access.decorators.js';
export { Authentication } from './auth/authentication.js';
export type { Caller } from './auth/caller.js';
export { requireScopes } from './auth/scopes.guard.js';
export { ApiError, Overloaded, ValidationFailed } from './errors/api-error.js';
export { HttpModule } from './http.module.js';
export type { Answer } from './lists/answer.js';
export { cursorForm, Cursors, type CursorUse, type Place } from './lists/cursor.js';
export { dayIn, periodOf } from './lists/filters.js';
export { list } from './lists/list.js';
export { Lists } from './lists/lists.js';
export {
  between, betweenDays, byFlag, byId, byIdOrCode, byValue, days, orDefault, parameter, queryOf, required,
  toggle, type ValuesOf,
} from './lists/parameters.js'; // prettier-ignore
export { Page } from './lists/page.js';
export { Records } from './lists/records.js';
export { lookUp, type RecordSet, Source } from './lists/source.js';
export { Area } from './openapi/area.decorator.js';
export {
  listController,
  readController,
  type RecordDeclaration,
  recordController,
} from './openapi/read-controllers.js';
export { rows } from './openapi/rows.js';
export { writeController } from './openapi/write-controller.js';
export { Documented, many, one, paged } from './openapi/operation.decorator.js';
export { whileWaiting } from './request/fairness.js';
export { tooMany } from './rate-limit/rate-limit.guard.js';
export { RouteTable } from './routing/route-table.js';
export { VariantsBy } from './validation/body-schema.js';
export { contentHashOf } from './validation/content-hash.js';
export { JsonUpTo, OrList, Upload, ValidBody, ValidQuery } from './validation/declared.js';
export * as field from './validation/fields.js';
export { type Received, receiveFile } from './validation/multipart.js';
export { PathId } from './validation/path-id.js';
export { changeOf, inputOf } from './validation/input.js';
export { object } from './validation/nested-kinds.js';
export { given, type Interdependent, TOGETHER } from './validation/read-object.js';
export { isUnencoded } from './validation/unencoded.js';
export {
  cents, day, flag, instant, integer, json, jsonb, like, moving, nullable, number, oneOf, text, texts, uuid,
} from './views/columns.js'; // prettier-ignore
export { JsonText } from './views/json-text.js';
export {
  BOOLEAN, code, enumOf, INSTANT, kept, objectOf, orNull, type Schema, type Shape, textLike, UUID, withExample,
} from './views/schemas.js'; // prettier-ignore
export { joinCode } from './views/sealed.js';
export { View } from './views/view.js';
export { Audit } from './writes/audit.js';
export { reads } from './writes/masks.js';
export { type Expected, IfMatch, requireVersion, tagged } from './writes/etag.js';
export { endedEarly, StoredUpload } from './writes/stored-upload.js';
export { Delete, Patch, Post, Put } from './writes/write-methods.js';
