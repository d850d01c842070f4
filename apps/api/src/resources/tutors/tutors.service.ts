import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Provisioning } from '@app/accounts';
import type { Counter } from '@app/database';
import type { Caller } from '../../http/auth/caller.js';
import { equals } from '../../http/lists/filters.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { Records } from '../../http/lists/records.js';
import { Source } from '../../http/lists/source.js';
import { refusedPerson, toTutor } from '../../people/people.dto.js';
import type { JsonText } from '../../http/views/json-text.js';
import { Audit } from '../../http/writes/audit.js';
import type { CreateTutor, ListTutors } from './tutors.dto.js';
import { tutorView } from './tutors.view.js';

const STAFF = new Source('members', 'm', {
  id: 'user_id',
  joins: sql`LEFT JOIN tutor_profiles t ON t.organization_id = m.organization_id AND t.user_id = m.user_id
    LEFT JOIN users u ON u.id = m.user_id`,
});

const COUNTED: Counter[] = ['members:owner', 'members:admin', 'members:tutor'];
const PUBLISHED: Counter[] = ['tutor_profiles:published'];

/** The organization's staff: owners, admins and tutors. Without a tutor profile they count as unpublished. */
@Injectable()
export class TutorsService {
  constructor(
    private readonly lists: Lists,
    private readonly records: Records,
    private readonly provisioning: Provisioning,
    private readonly audit: Audit,
  ) {}

  list(caller: Caller, query: ListTutors): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: tutorView,
        source: STAFF,
        filters: [sql`m.role <> 'student'`, equals('m.profile_published', query.is_published)],
        total: query.is_published ? PUBLISHED : COUNTED,
        totalWithout: query.is_published === false ? PUBLISHED : [],
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
    return this.records.written(caller, tutorView, STAFF, sql`m.user_id = ${id}`);
  }
}
