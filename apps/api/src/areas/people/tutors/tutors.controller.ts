import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, Post, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { CreateTutor } from './tutors.dto.js';
import { TutorsService } from './tutors.service.js';
import { STAFF } from './tutors.queries.js';

@Controller('v1/tutors')
export class TutorsController {
  constructor(private readonly tutors: TutorsService) {}

  @Post()
  @RequireScopes('accounts:write')
  @Documented({
    id: 'create_tutor',
    summary: 'Creates or invites a tutor',
    description:
      'Works like a `tutor` row of the bulk invite. A tutor who already exists is returned unchanged. What ' +
      'would be a row’s `error` is a 422 here.',
    answer: one(STAFF.view),
    example: { first_name: 'Sam', last_name: 'Okafor', email: 'sam@example.org', teaching_mode: 'online' },
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateTutor) body: CreateTutor) {
    return this.tutors.create(caller, body);
  }
}
