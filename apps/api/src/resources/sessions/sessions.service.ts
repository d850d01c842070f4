import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import type { JsonText } from '../../http/views/json-text.js';
import { sessionView } from './sessions.view.js';

@Injectable()
export class SessionsService {
  constructor(private readonly lists: Lists) {}

  get(caller: Caller, id: string): Promise<JsonText> {
    return this.lists.record(caller, sessionView, sql`sessions s`, [
      sql`s.organization_id = ${caller.organizationId}`,
      sql`s.id = ${id}`,
    ]);
  }
}
