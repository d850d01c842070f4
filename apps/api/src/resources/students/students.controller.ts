import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { ListQuery } from '../../http/lists/list-query.dto.js';
import { Documented, page } from '../../http/openapi/operation.decorator.js';
import { StudentsService } from './students.service.js';
import { studentView } from './students.view.js';

@Controller('v1/students')
export class StudentsController {
  constructor(private readonly students: StudentsService) {}

  @Get()
  @RequireScopes('read')
  @Documented({
    id: 'list_students',
    summary: 'Lists the organization’s students, newest first',
    description: 'Students of every `status`. A `pending` one shows only what the organization supplied.',
    answer: page(studentView, { total: true }),
  })
  list(@CurrentCaller() caller: Caller, @Query() query: ListQuery) {
    return this.students.list(caller, query);
  }
}
