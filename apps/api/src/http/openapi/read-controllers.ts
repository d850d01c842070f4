import { Controller, Get, type Type } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../auth/access.decorators.js';
import type { Caller } from '../auth/caller.js';
import type { List, PageQuery } from '../lists/list.js';
import { Lists } from '../lists/lists.js';
import { Records } from '../lists/records.js';
import { declare, type Shown } from '../lists/source.js';
import { ValidQuery } from '../validation/declared.js';
import { PathId } from '../validation/path-id.js';
import { tagged } from '../writes/etag.js';
import { Documented, one, pageOf } from './operation.decorator.js';

/** The controller of a list: a GET for keys with `read`, documented from the list's declaration. */
export function listController(list: List): Type {
  const { id, path, query: queryClass, summary, description } = list;
  const parameters = idsIn(path);

  @Controller(path)
  class ListController {
    constructor(private readonly lists: Lists) {}

    @Get()
    @RequireScopes('read')
    @Documented({ id, summary, description, list, answer: pageOf(list) })
    list(@CurrentCaller() caller: Caller, @ValidQuery(queryClass) query: PageQuery, ...ids: string[]) {
      return this.lists.page(caller, list, query, Object.fromEntries(parameters.map((name, at) => [name, ids[at]!])));
    }
  }

  for (const [at, name] of parameters.entries()) PathId(name)(ListController.prototype, 'list', at + 2);
  return ListController;
}

/** A single record: declared like a list. */
export interface RecordDeclaration extends Shown {
  /** The operation's id. */
  id: string;
  /** With the record's id as its parameter, unless there is only one. */
  path: string;
  summary: string;
  description?: string;
  /** It has an `ETag`. */
  versioned?: boolean;
}

/** The controller of a record: a GET for keys with `read`, documented from the record's declaration. */
export function recordController(record: RecordDeclaration): Type {
  const { id, path, summary, description, view, versioned } = record;
  declare(record);

  @Controller(path)
  class RecordController {
    constructor(private readonly records: Records) {}

    @Get()
    @RequireScopes('read')
    @Documented({ id, summary, description, answer: one(view), versioned })
    async get(@CurrentCaller() caller: Caller, ...[wanted]: string[]) {
      const found = await this.records.get(caller, record, wanted);
      return versioned ? tagged(found) : found;
    }
  }

  for (const name of idsIn(path)) PathId(name)(RecordController.prototype, 'get', 1);
  return RecordController;
}

const idsIn = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
