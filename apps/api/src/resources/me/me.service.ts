import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { Records } from '../../http/lists/records.js';
import { Source } from '../../http/lists/source.js';
import type { JsonText } from '../../http/views/json-text.js';
import { meView, pingView } from './me.view.js';

@Injectable()
export class MeService {
  constructor(private readonly records: Records) {}

  ping(caller: Caller): Promise<JsonText> {
    return this.records.get(caller, pingView, Source.organization());
  }

  me(caller: Caller): Promise<JsonText> {
    const scopes = [...caller.scopes];
    const granted = sql`CROSS JOIN (SELECT ${scopes}::text[] AS scopes) granted`;
    return this.records.get(caller, meView, Source.organization(granted));
  }
}
