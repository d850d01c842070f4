import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { equals } from '../../http/lists/filters.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import type { ListHomework } from './homework.dto.js';
import { homeworkView } from './homework.view.js';

@Injectable()
export class HomeworkService {
  constructor(private readonly lists: Lists) {}

  list(caller: Caller, query: ListHomework): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: homeworkView,
        from: sql`homework h`,
        where: [
          sql`h.organization_id = ${caller.organizationId}`,
          equals('h.homework_type', query.homework_type),
          equals('h.scope', query.scope),
          equals('h.student_id', query.student_id),
        ],
        order: { createdAt: 'h.created_at', id: 'h.id' },
      },
      query,
    );
  }
}
