import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { type Caller, type JsonText, Records, Source } from '../../../http/kit.js';
import { sessionView } from './sessions.view.js';

const SESSIONS = new Source('sessions', 's');

@Injectable()
export class SessionsService {
  constructor(private readonly records: Records) {}

  get(caller: Caller, id: string): Promise<JsonText> {
    return this.records.get(caller, sessionView, SESSIONS, sql`s.id = ${id}`);
  }
}
