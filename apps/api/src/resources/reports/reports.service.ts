import { Injectable } from '@nestjs/common';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { Source } from '../../http/lists/source.js';
import type { JsonText } from '../../http/views/json-text.js';
import { summaryView } from './reports.view.js';

@Injectable()
export class ReportsService {
  constructor(private readonly lists: Lists) {}

  getSummary(caller: Caller): Promise<JsonText> {
    return this.lists.record(caller, summaryView, Source.organization());
  }
}
