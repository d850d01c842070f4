import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import type { JsonText } from '../../http/views/json-text.js';
import { summaryView } from './reports.view.js';

@Injectable()
export class ReportsService {
  constructor(private readonly lists: Lists) {}

  getSummary(caller: Caller): Promise<JsonText> {
    return this.lists.record(caller, summaryView, sql`organizations o`, [sql`o.id = ${caller.organizationId}`]);
  }
}
