import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Documented, page } from '../../http/openapi/operation.decorator.js';
import { ListTutors } from './tutors.dto.js';
import { TutorsService } from './tutors.service.js';
import { tutorView } from './tutors.view.js';

@Controller('v1/tutors')
export class TutorsController {
  constructor(private readonly tutors: TutorsService) {}

  @Get()
  @RequireScopes('read')
  @Documented({
    id: 'list_tutors',
    summary: 'Lists the organization’s tutors, newest first',
    description:
      'Everybody who teaches, owners and admins too when they do. `subjects` are names, `tutor_subjects` ids.',
    answer: page(tutorView, { total: true }),
  })
  list(@CurrentCaller() caller: Caller, @Query() query: ListTutors) {
    return this.tutors.list(caller, query);
  }
}
