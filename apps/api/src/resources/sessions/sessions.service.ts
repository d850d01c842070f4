import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { Source } from '../../http/lists/source.js';
import type { JsonText } from '../../http/views/json-text.js';
import { sessionView } from './sessions.view.js';

const SESSIONS = new Source('sessions', 's');

@Injectable()
export class SessionsService {
  constructor(private readonly lists: Lists) {}

  get(caller: Caller, id: string): Promise<JsonText> {
    return this.lists.record(caller, sessionView, SESSIONS, sql`s.id = ${id}`);
  }
}
