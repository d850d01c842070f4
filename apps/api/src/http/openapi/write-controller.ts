import { Controller, Inject, Res, type Type, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import type { Scope } from '@app/access';
import { type ApiOperation, doneOf, type Exactly, type IdNames, type Result, type Worded } from '@app/audit';
import { CurrentCaller, RequireAnyScope, RequireScopes } from '../auth/access.decorators.js';
import type { Caller } from '../auth/caller.js';
import type { Answer } from '../lists/answer.js';
import type { List } from '../lists/list.js';
import { Lists } from '../lists/lists.js';
import { Records } from '../lists/records.js';
import type { RecordSet } from '../lists/source.js';
import { JsonText } from '../views/json-text.js';
import { ValidBody } from '../validation/declared.js';
import { byName, idsIn, PathId } from '../validation/path-id.js';
import { Audit } from '../writes/audit.js';
import { type Expected, IfMatch, requireVersion, requireVersionOfList, tagged } from '../writes/etag.js';
import { Delete, Patch, Post, Put } from '../writes/write-methods.js';
import { storedScopes } from '../writes/stored-scopes.js';
import { Documented, one, type Operation } from './operation.decorator.js';

/** A write that has words for the audit page: one without does not compile. */
type Route = Extract<Worded, ApiOperation>;

/** What a request asks for. */
export interface Call<Name extends string = string, Body = unknown> {
  caller: Caller;
  organizationId: string;
  ids: Record<Name, string>;
  body: Body;
}

/** A write: declared like a list. */
export interface WriteDeclaration<
  R extends Route,
  Body extends object,
  Rules extends unknown[] | [],
  Made extends Result,
> extends Pick<Operation, 'id' | 'summary' | 'description' | 'repeated' | 'example' | 'conflicts'> {
  route: R;
  /** Of a success, if it is not the method's usual one. */
  status?: number;
  /** One that is needed, or all of several; or some of several, depending on the body. */
  scope:
    | Scope
    | [Scope, ...Scope[]]
    | { anyOf: [Scope, Scope, ...Scope[]]; by: (body: Body) => Scope[] }
    | { anyOf: [Scope, Scope, ...Scope[]]; byStored: (row: object) => Scope[] };
  /** The request class. */
  body?: Type<Body>;
  /** Who decides and writes: injected. */
  rules: { [K in keyof Rules]: Type<Rules[K]> };
  /** The record that is answered as the write leaves it, or an answer of its own; null for none (204). */
  answers: RecordSet | Answer | null;
  /** What the audit row calls the record's id, if not like the path's first parameter. */
  idName?: string;
  /** The record of the path, whose version `If-Match` names; or a new one. An answer that shows it has its `ETag`. */
  versions?: RecordSet;
  /** Takes the locks that come before that on the record (`Database.lock`), for a request with `If-Match`. */
  first?: (call: Call<IdNames<R>, Body>, ...rules: Rules) => Promise<unknown>;
  /** The list that it replaces as a whole, whose version `If-Match` must name. Its answer has the new `ETag`. */
  replaces?: List;
  run: (call: Call<IdNames<R>, Body>, ...rules: Rules) => Exactly<Made> | Promise<Exactly<Made>>;
}

const METHODS = { POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete };

/** The controller of a write: one unit of work, documented and audited from its declaration and its rule's result. */
export function writeController<
  R extends Route,
  Body extends object,
  Rules extends unknown[] | [],
  Made extends Result,
>(write: WriteDeclaration<R, Body, Rules, Made>): Type {
  const {
    route,
    scope,
    status,
    body: bodyClass,
    rules,
    answers,
    idName,
    versions,
    first,
    replaces,
    run,
    ...operation
  } = write;
  const [method, path] = route.split(' /') as [keyof typeof METHODS, string];
  const names = idsIn<R>(route);
  const Method = METHODS[method];
  const some = typeof scope === 'object' && 'anyOf' in scope ? scope : null;
  const Requires = some
    ? RequireAnyScope(some.anyOf, 'by' in some ? some.by : () => [])
    : RequireScopes(...([scope].flat() as [Scope, ...Scope[]]));
  const stored = some && 'byStored' in some ? [storedScopes(versions!, some.byStored)] : [];
  const record = answers && 'view' in answers ? answers : null;
  const name = idName ?? names[0];
  if (record && !name) throw new Error(`${route}: say what its audit row calls the new record`);

  @Controller(path)
  class WriteController {
    private readonly rules: Rules;

    constructor(
      private readonly records: Records,
      private readonly audit: Audit,
      private readonly lists: Lists,
      ...injected: unknown[]
    ) {
      this.rules = injected as Rules;
    }

    @Method(undefined, answers ? status : 204)
    @Requires
    @UseGuards(...stored)
    @Documented({
      ...operation,
      answer: record ? one(record.view) : (answers as Answer | null),
      versioned: replaces ? 'required' : versions && (record?.view === versions.view || 'compared'),
    })
    async write(
      @CurrentCaller() caller: Caller,
      @Res({ passthrough: true }) response: Response,
      @IfMatch() expected: Expected,
      ...[body, ...values]: [body: unknown, ...ids: string[]]
    ) {
      const ids = byName(names, values);
      const call = { caller, organizationId: caller.organizationId, ids, body: body as Body };
      if (versions && expected !== null && (method !== 'POST' || values.length > 0)) {
        await first?.(call, ...this.rules);
        requireVersion(await this.records.locked(caller, versions, values[0]), expected);
      }
      if (replaces) requireVersionOfList(await this.lists.version(caller, replaces, { lock: true }), expected);
      const { id: made, changed, existed, audit, answer } = doneOf(await run(call, ...this.rules));
      const id = made ?? values[0];
      const others = Object.fromEntries(Object.entries<string>(ids).slice(made === undefined ? 1 : 0));
      this.audit.note({ ...others, ...(name && id && { [name]: id }), ...audit }, changed);
      if (existed) response.status(200);
      if (replaces) return new JsonText(JSON.stringify(answer), await this.lists.version(caller, replaces));
      if (!record) return answer;
      const stored = await this.records.written(caller, record, id);
      return versions ? new JsonText(stored.text, tagged(stored).etag) : stored;
    }
  }

  for (const [at, rule] of rules.entries()) Inject(rule)(WriteController, undefined, at + 3);
  if (bodyClass) ValidBody(bodyClass)(WriteController.prototype, 'write', 3);
  for (const [at, name] of names.entries()) PathId(name)(WriteController.prototype, 'write', at + 4);
  return WriteController;
}
