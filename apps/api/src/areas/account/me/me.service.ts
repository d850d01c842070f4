import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { type Caller, type JsonText, Records, Source } from '../../../http/kit.js';
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
