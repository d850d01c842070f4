import { Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import {
  type Caller, CurrentCaller, Documented, one, Patch, PathId, Post, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { CreateLead, UpdateLead } from './leads.dto.js';
import { LEAD } from './leads.queries.js';
import { LeadsService } from './leads.service.js';

@Controller('v1/leads')
export class LeadsController {
  constructor(private readonly leads: LeadsService) {}

  @Post()
  @RequireScopes('leads:write')
  @Documented({
    id: 'create_lead',
    summary: 'Records a lead',
    description:
      'Send an email address or a phone number. The same address again within a day corrects its lead while that is neither ' +
      'converted nor lost, and the status is 200: fields that are sent replace the stored ones, or with a key without `read` ' +
      'fill empty ones, and are added to `notes`.',
    answer: one(LEAD.view),
    repeated: 'The lead of the same address was corrected.',
    example: {
      name: 'Priya Sharma',
      email: 'priya@example.org',
      phone: '+61 3 5550 1234',
      subject: 'Year 11 Methods',
      source_url: 'https://tutoring.example.org/contact',
      source_form_name: 'Free consultation',
    },
  })
  async create(
    @CurrentCaller() caller: Caller,
    @ValidBody(CreateLead) body: CreateLead,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { lead, created } = await this.leads.create(caller, body);
    if (!created) response.status(200);
    return lead;
  }

  @Patch(':lead_id')
  @RequireScopes('leads:write', 'read')
  @Documented({
    id: 'update_lead',
    summary: 'Changes the status, the tutor or the notes of a lead',
    description: 'Omitted fields stay unchanged. A lost lead can become `new` or `contacted` again.',
    answer: one(LEAD.view),
    conflicts: ['invalid_state'],
    example: { status: 'contacted', staff_notes: 'Called back; wants a trial lesson.' },
  })
  update(@CurrentCaller() caller: Caller, @PathId('lead_id') id: string, @ValidBody(UpdateLead) body: UpdateLead) {
    return this.leads.update(caller, id, body);
  }
}
