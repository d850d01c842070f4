import { Controller, Get, Inject, type Type } from '@nestjs/common';
import type { Scope } from '@app/access';
import type { IdNames } from '@app/audit';
import { CurrentCaller, RequireScopes } from '../auth/access.decorators.js';
import type { Caller } from '../auth/caller.js';
import type { Answer } from '../lists/answer.js';
import type { List, PageQuery } from '../lists/list.js';
import { Lists } from '../lists/lists.js';
import { Records } from '../lists/records.js';
import { declare, type RecordSet } from '../lists/source.js';
import { ValidQuery } from '../validation/declared.js';
import { byName, idsIn, PathId } from '../validation/path-id.js';
import { tagged } from '../writes/etag.js';
import { Documented, one, pageOf } from './operation.decorator.js';

const READ: [Scope, ...Scope[]] = ['read'];

/** The controller of a list: a GET for keys with `read`, or what the list says, documented from its declaration. */
export function listController(list: List): Type {
  const { id, path, query: queryClass, summary, description, scopes = READ } = list;
  const parameters = idsIn(path);

  @Controller(path)
  class ListController {
    constructor(private readonly lists: Lists) {}

    @Get()
    @RequireScopes(...scopes)
    @Documented({ id, summary, description, list, answer: pageOf(list), versioned: list.whole })
    list(@CurrentCaller() caller: Caller, @ValidQuery(queryClass) query: PageQuery, ...ids: string[]) {
      return this.lists.page(caller, list, query, byName(parameters, ids));
    }
  }

  for (const [at, name] of parameters.entries()) PathId(name)(ListController.prototype, 'list', at + 2);
  return ListController;
}

/** A single record: declared like a list. */
export interface RecordDeclaration extends RecordSet, Pick<List, 'scopes'> {
  /** The operation's id. */
  id: string;
  /** With the record's id as its parameter, unless there is only one. */
  path: string;
  summary: string;
  description?: string;
  /** Whether it has an `ETag`, if its path does not end with its id: then it has. */
  versioned?: boolean;
}

/** The controller of a record: a GET like that of a list. */
export function recordController(record: RecordDeclaration): Type {
  const { id, path, summary, description, view, scopes = READ, versioned = /:\w+$/.test(path) } = record;
  declare(record);

  @Controller(path)
  class RecordController {
    constructor(private readonly records: Records) {}

    @Get()
    @RequireScopes(...scopes)
    @Documented({ id, summary, description, answer: one(view), versioned })
    async get(@CurrentCaller() caller: Caller, ...[wanted]: string[]) {
      const found = await this.records.get(caller, record, wanted);
      return versioned ? tagged(found) : found;
    }
  }

  for (const name of idsIn(path)) PathId(name)(RecordController.prototype, 'get', 1);
  return RecordController;
}

/** A read that a rule computes: declared like a list. */
interface ComputedRead<Path extends string, Query extends object, Rules extends unknown[] | []> {
  /** The operation's id. */
  id: string;
  path: Path;
  summary: string;
  description?: string;
  query?: Type<Query>;
  answer: Answer;
  /** Whether `run` gives it an `ETag`. */
  versioned?: boolean;
  /** Who reads: injected. */
  rules: { [At in keyof Rules]: Type<Rules[At]> };
  run: (asked: { caller: Caller; ids: Record<IdNames<Path>, string>; query: Query }, ...rules: Rules) => unknown;
}

/** The controller of a read that a rule computes: a GET for keys with `read`. */
export function readController<Path extends string, Query extends object, Rules extends unknown[] | []>(
  read: ComputedRead<Path, Query, Rules>,
): Type {
  const { path, query: queryClass, rules, run, ...operation } = read;
  const names = idsIn(path);

  @Controller(path)
  class ReadController {
    private readonly rules: Rules;

    constructor(...injected: unknown[]) {
      this.rules = injected as Rules;
    }

    @Get()
    @RequireScopes('read')
    @Documented(operation)
    read(@CurrentCaller() caller: Caller, ...[query, ...values]: [query: unknown, ...ids: string[]]) {
      return run({ caller, ids: byName(names, values), query: query as Query }, ...this.rules);
    }
  }

  // TypeScript lists the rest parameter as one dependency, which Nest could not supply.
  Reflect.defineMetadata('design:paramtypes', [...rules], ReadController);
  for (const [at, rule] of rules.entries()) Inject(rule)(ReadController, undefined, at);
  if (queryClass) ValidQuery(queryClass)(ReadController.prototype, 'read', 1);
  for (const [at, name] of names.entries()) PathId(name)(ReadController.prototype, 'read', at + 2);
  return ReadController;
}
