import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Provisioning } from '@app/accounts';
import type { Caller } from '../../http/auth/caller.js';
import { equals } from '../../http/lists/filters.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { refusedPerson, toTutor } from '../../http/validation/people.js';
import type { JsonText } from '../../http/views/json-text.js';
import { Audit } from '../../http/writes/audit.js';
import type { CreateTutor, ListTutors } from './tutors.dto.js';
import { tutorView } from './tutors.view.js';

const TUTORS = sql`tutor_profiles t
  JOIN members m ON m.organization_id = t.organization_id AND m.user_id = t.user_id
  JOIN users u ON u.id = t.user_id`;

const PUBLISHED = 'tutor_profiles:published';
const UNPUBLISHED = 'tutor_profiles:unpublished';

/** Everybody who teaches in the organization; owners and admins too when they do. */
@Injectable()
export class TutorsService {
  constructor(
    private readonly lists: Lists,
    private readonly provisioning: Provisioning,
    private readonly audit: Audit,
  ) {}

  list(caller: Caller, query: ListTutors): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: tutorView,
        from: TUTORS,
        where: [sql`t.organization_id = ${caller.organizationId}`, equals('t.is_published', query.is_published)],
        order: { createdAt: 't.created_at', id: 't.user_id' },
        total:
          query.is_published === undefined ? [PUBLISHED, UNPUBLISHED] : [query.is_published ? PUBLISHED : UNPUBLISHED],
      },
      query,
    );
  }

  /** @throws ValidationFailed when the values cannot be */
  async create(caller: Caller, body: CreateTutor): Promise<JsonText> {
    const [outcome] = await this.provisioning.provision(caller, [toTutor(body)]);
    if (outcome!.status === 'error') throw refusedPerson([outcome!.refusal]);
    const { id, created, invited } = outcome!;
    this.audit.note({ tutor_id: id, created, invited });
    return this.lists.written(caller, tutorView, TUTORS, [
      sql`t.organization_id = ${caller.organizationId}`,
      sql`t.user_id = ${id}`,
    ]);
  }
}
