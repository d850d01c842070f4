import { Injectable } from '@nestjs/common';
import type { Caller } from '../../http/auth/caller.js';
import { equals, since, until } from '../../http/lists/filters.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { Source } from '../../http/lists/source.js';
import type { ListResults } from './results.dto.js';
import { resultView } from './results.view.js';

const RESULTS = new Source('organization_results', 'o', { id: 'result_id' });

/**
 * Results of students who have a session in the organization: organization_results lists them, with a copy of what is
 * shown.
 */
@Injectable()
export class ResultsService {
  constructor(private readonly lists: Lists) {}

  list(caller: Caller, query: ListResults): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: resultView,
        source: RESULTS,
        filters: [
          equals('o.student_id', query.student_id),
          equals('o.status', query.status),
          equals('o.mode', query.mode),
          since('o.completed_at', query.from),
          until('o.completed_at', query.to),
        ],
      },
      query,
    );
  }
}
