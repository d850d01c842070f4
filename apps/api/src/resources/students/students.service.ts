import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import type { ListQuery } from '../../http/lists/list-query.dto.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { studentView } from './students.view.js';

@Injectable()
export class StudentsService {
  constructor(private readonly lists: Lists) {}

  list(caller: Caller, query: ListQuery): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: studentView,
        from: sql`members m JOIN users u ON u.id = m.user_id`,
        where: [sql`m.organization_id = ${caller.organizationId}`, sql`m.role = 'student'`],
        order: { createdAt: 'm.created_at', id: 'm.user_id' },
        total: true,
      },
      query,
    );
  }
}
