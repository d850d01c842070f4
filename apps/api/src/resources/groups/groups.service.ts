import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import type { JsonText } from '../../http/views/json-text.js';
import { studentGroupView } from './groups.view.js';

/** Groups that the organization owns, and groups that nobody owns of a tutor with this organization only. */
@Injectable()
export class GroupsService {
  constructor(private readonly lists: Lists) {}

  get(caller: Caller, id: string): Promise<JsonText> {
    return this.lists.record(caller, studentGroupView, sql`student_groups g`, [
      sql`g.organization_id = ${caller.organizationId}`,
      sql`g.id = ${id}`,
    ]);
  }
}
