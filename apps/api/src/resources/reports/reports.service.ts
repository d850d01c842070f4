import { Injectable } from '@nestjs/common';
import type { Caller } from '../../http/auth/caller.js';
import { Records } from '../../http/lists/records.js';
import { Source } from '../../http/lists/source.js';
import type { JsonText } from '../../http/views/json-text.js';
import { summaryView } from './reports.view.js';

@Injectable()
export class ReportsService {
  constructor(private readonly records: Records) {}

  getSummary(caller: Caller): Promise<JsonText> {
    return this.records.get(caller, summaryView, Source.organization());
  }
}
