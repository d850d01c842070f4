import { Injectable } from '@nestjs/common';
import { type Caller, type JsonText, Records, Source } from '../../../http/kit.js';
import { summaryView } from './reports.view.js';

@Injectable()
export class ReportsService {
  constructor(private readonly records: Records) {}

  getSummary(caller: Caller): Promise<JsonText> {
    return this.records.get(caller, summaryView, Source.organization());
  }
}
