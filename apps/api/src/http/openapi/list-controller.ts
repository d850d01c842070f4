import { Controller, Get, type Type } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../auth/access.decorators.js';
import type { Caller } from '../auth/caller.js';
import type { List } from '../lists/list.js';
import { ListQuery } from '../lists/list-query.dto.js';
import { Lists } from '../lists/lists.js';
import { ValidQuery } from '../validation/declared.js';
import { PathId } from '../validation/path-id.js';
import { Documented, pageOf } from './operation.decorator.js';

/** The controller of a list: a GET for keys with `read`, documented from the list's declaration. */
export function listController(list: List): Type {
  const { id, path, query: queryClass = ListQuery, summary, description } = list;
  const parameters = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);

  @Controller(path)
  class ListController {
    constructor(private readonly lists: Lists) {}

    @Get()
    @RequireScopes('read')
    @Documented({ id, summary, description, list, answer: pageOf(list) })
    list(@CurrentCaller() caller: Caller, @ValidQuery(queryClass) query: ListQuery, ...ids: string[]) {
      return this.lists.page(caller, list, query, Object.fromEntries(parameters.map((name, at) => [name, ids[at]!])));
    }
  }

  for (const [at, name] of parameters.entries()) PathId(name)(ListController.prototype, 'list', at + 2);
  return ListController;
}
