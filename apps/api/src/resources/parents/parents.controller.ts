import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { ListQuery } from '../../http/lists/list-query.dto.js';
import { Documented, one, page } from '../../http/openapi/operation.decorator.js';
import { PathId } from '../../http/validation/path-id.js';
import { ParentsService } from './parents.service.js';
import { balanceView, parentView } from './parents.view.js';

@Controller('v1/parents')
export class ParentsController {
  constructor(private readonly parents: ParentsService) {}

  @Get()
  @RequireScopes('read')
  @Documented({
    id: 'list_parents',
    summary: 'Lists parents with a child in the organization, newest first',
    answer: page(parentView, { total: true }),
  })
  list(@CurrentCaller() caller: Caller, @Query() query: ListQuery) {
    return this.parents.list(caller, query);
  }

  @Get(':parent_id')
  @RequireScopes('read')
  @Documented({
    id: 'get_parent',
    summary: 'Returns one parent with the children linked in the organization',
    description: 'A parent without a link in this organization is not found.',
    answer: one(parentView),
  })
  get(@CurrentCaller() caller: Caller, @PathId('parent_id') id: string) {
    return this.parents.get(caller, id);
  }

  @Get(':parent_id/balance')
  @RequireScopes('read')
  @Documented({
    id: 'get_parent_balance',
    summary: 'Sums the open and paid invoices of a parent’s children',
    description: 'Integer cents in the organization’s currency. `outstanding_cents` is what open invoices still lack.',
    answer: one(balanceView),
  })
  getBalance(@CurrentCaller() caller: Caller, @PathId('parent_id') id: string) {
    return this.parents.getBalance(caller, id);
  }
}
