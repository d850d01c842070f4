import { Injectable } from '@nestjs/common';
import type { Caller } from '../../http/auth/caller.js';
import { equals } from '../../http/lists/filters.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { Source } from '../../http/lists/source.js';
import type { ListHomework } from './homework.dto.js';
import { homeworkView } from './homework.view.js';

const HOMEWORK = new Source('homework', 'h');

@Injectable()
export class HomeworkService {
  constructor(private readonly lists: Lists) {}

  list(caller: Caller, query: ListHomework): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: homeworkView,
        source: HOMEWORK,
        filters: [
          equals('h.homework_type', query.homework_type),
          equals('h.scope', query.scope),
          equals('h.student_id', query.student_id),
        ],
      },
      query,
    );
  }
}
