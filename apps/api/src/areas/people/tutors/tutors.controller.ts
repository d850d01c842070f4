import { Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import {
  type Caller, CurrentCaller, Documented, one, PathId, Post, Put, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { CreateTutor, UpdateTutor } from './tutors.dto.js';
import { Offboard, offboardShape, OffboardTutor } from '../offboard.js';
import { TutorsService } from './tutors.service.js';
import { STAFF } from './tutors.queries.js';

@Controller('v1/tutors')
export class TutorsController {
  constructor(
    private readonly tutors: TutorsService,
    private readonly offboarding: Offboard,
  ) {}

  @Post()
  @RequireScopes('accounts:write')
  @Documented({
    id: 'create_tutor',
    summary: 'Creates or invites a tutor',
    description:
      'Works like a `tutor` row of the bulk invite. An accepted or pending tutor with this address is returned ' +
      'unchanged, with status 200. What would be a row’s `error` is a 422 here.',
    answer: one(STAFF.view),
    repeated: 'The tutor was here already.',
    example: { first_name: 'Sam', last_name: 'Okafor', email: 'sam@example.org', teaching_mode: 'online' },
  })
  async create(
    @CurrentCaller() caller: Caller,
    @ValidBody(CreateTutor) body: CreateTutor,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { tutor, known } = await this.tutors.create(caller, body);
    if (known) response.status(200);
    return tutor;
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
      'it (422). Another name of an owner or admin needs `accounts:write` as well (403). Archived people cannot be ' +
      'changed (422).',
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

  @Post(':tutor_id/offboard', 200)
  @RequireScopes('accounts:write')
  @Documented({
    id: 'offboard_tutor',
    summary: 'Ends a tutor’s time in the organization',
    description:
      'The tutor is archived; their account stays theirs. Relations to students are archived; places in ' +
      'classrooms and groups, open invites and API keys end. Sessions ahead are unassigned unless `sessions` ' +
      'says otherwise. What was taught, earnings and messages stay. Owners and admins are removed in the portal: ' +
      '409. Again: zeros.',
    answer: one(offboardShape),
    conflicts: ['is_manager'],
    example: { sessions: 'hand_over', hand_over_to: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' },
  })
  offboard(
    @CurrentCaller() caller: Caller,
    @PathId('tutor_id') id: string,
    @ValidBody(OffboardTutor) body: OffboardTutor,
  ) {
    return this.offboarding.end(caller, { userId: id, as: 'staff', sessions: body.ahead });
  }
}
