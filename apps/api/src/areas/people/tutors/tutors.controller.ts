import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, PathId, Post, Put, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { CreateTutor, UpdateTutor } from './tutors.dto.js';
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

  @Put(':tutor_id')
  @RequireScopes('tutors:write')
  @Documented({
    id: 'update_tutor',
    summary: 'Changes a tutor, admin or owner',
    description:
      'Omitted fields stay unchanged; a list replaces the stored one. Somebody without a tutor profile gets one. ' +
      'Another `home_suburb` or `home_postcode` clears the coordinates. Names change what the organization ' +
      'supplied of a `pending` person, and otherwise the login, unless another organization has a membership for ' +
      'it (422). Archived people cannot be changed (422).',
    answer: one(STAFF.view),
    example: {
      bio: 'Patient and precise; eleven years of Methods.',
      is_published: true,
      handle: 'sam-okafor',
      home_suburb: 'Brunswick',
      home_postcode: '3056',
      service_postcodes: ['3056', '3057'],
      max_travel_km: 10,
      specialisations: ['exam preparation'],
    },
  })
  update(@CurrentCaller() caller: Caller, @PathId('tutor_id') id: string, @ValidBody(UpdateTutor) body: UpdateTutor) {
    return this.tutors.update(caller, id, body);
  }
}
