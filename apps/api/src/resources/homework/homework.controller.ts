import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Documented, page } from '../../http/openapi/operation.decorator.js';
import { ListHomework } from './homework.dto.js';
import { HomeworkService } from './homework.service.js';
import { homeworkView } from './homework.view.js';

@Controller('v1/homework')
export class HomeworkController {
  constructor(private readonly homework: HomeworkService) {}

  @Get()
  @RequireScopes('read')
  @Documented({
    id: 'list_homework',
    summary: 'Lists homework, newest first',
    description:
      'Homework belongs to the organization that was derived when it was set: of its classroom, else its group, else the ' +
      'tutor-student relation, else the only organization of its author.',
    answer: page(homeworkView),
  })
  list(@CurrentCaller() caller: Caller, @Query() query: ListHomework) {
    return this.homework.list(caller, query);
  }
}
