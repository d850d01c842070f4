import { Injectable } from '@nestjs/common';
import { Leads } from '@app/enquiries';
import { Audit, type Caller, type JsonText, reads, Records } from '../../../http/kit.js';
import type { CreateLead, UpdateLead } from './leads.dto.js';
import { LEAD } from './leads.queries.js';

@Injectable()
export class LeadsService {
  constructor(
    private readonly records: Records,
    private readonly leads: Leads,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for an unknown tutor */
  async create(caller: Caller, body: CreateLead): Promise<{ lead: JsonText; created: boolean }> {
    const lead = {
      name: body.name,
      email: body.email ?? null,
      phone: body.phone ?? null,
      subject: body.subject ?? null,
      notes: body.notes ?? null,
      sourceUrl: body.source_url ?? null,
      sourceFormName: body.source_form_name ?? null,
      assignedTutorId: body.assigned_tutor_id ?? null,
    };
    const { id, created } = await this.leads.receive(caller.organizationId, lead, reads(caller));
    this.audit.note({ lead_id: id, created });
    return { lead: await this.records.written(caller, LEAD, id), created };
  }

  /** @throws Refused for an unknown lead or tutor, and for a status that cannot follow the lead's own */
  async update(caller: Caller, id: string, body: UpdateLead): Promise<JsonText> {
    const { status, assigned_tutor_id: assignedTutorId, notes, staff_notes: staffNotes } = body;
    await this.leads.change(caller.organizationId, id, { status, assignedTutorId, notes, staffNotes });
    this.audit.note({ lead_id: id });
    return this.records.written(caller, LEAD, id);
  }
}
