import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { Records } from '../../http/lists/records.js';
import { Source } from '../../http/lists/source.js';
import type { JsonText } from '../../http/views/json-text.js';
import { sessionView } from './sessions.view.js';

const SESSIONS = new Source('sessions', 's');

@Injectable()
export class SessionsService {
  constructor(private readonly records: Records) {}

  get(caller: Caller, id: string): Promise<JsonText> {
    return this.records.get(caller, sessionView, SESSIONS, sql`s.id = ${id}`);
  }
}
