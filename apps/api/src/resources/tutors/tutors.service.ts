import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { equals } from '../../http/lists/filters.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import type { ListTutors } from './tutors.dto.js';
import { tutorView } from './tutors.view.js';

/** Everybody who teaches in the organization; owners and admins too when they do. */
@Injectable()
export class TutorsService {
  constructor(private readonly lists: Lists) {}

  list(caller: Caller, query: ListTutors): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: tutorView,
        from: sql`tutor_profiles t
          JOIN members m ON m.organization_id = t.organization_id AND m.user_id = t.user_id
          JOIN users u ON u.id = t.user_id`,
        where: [sql`t.organization_id = ${caller.organizationId}`, equals('t.is_published', query.is_published)],
        order: { createdAt: 't.created_at', id: 't.user_id' },
        total: true,
      },
      query,
    );
  }
}
