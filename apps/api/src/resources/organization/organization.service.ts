import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import type { JsonText } from '../../http/views/json-text.js';
import { meView, pingView } from './organization.view.js';

/** Who the caller is: the two lines of every quick start. */
@Injectable()
export class OrganizationService {
  constructor(private readonly lists: Lists) {}

  ping(caller: Caller): Promise<JsonText> {
    return this.lists.record(caller, pingView, sql`organizations o`, [sql`o.id = ${caller.organizationId}`]);
  }

  me(caller: Caller): Promise<JsonText> {
    const scopes = [...caller.scopes];
    return this.lists.record(
      caller,
      meView,
      sql`organizations o CROSS JOIN (SELECT ${scopes}::text[] AS scopes) granted`,
      [sql`o.id = ${caller.organizationId}`],
    );
  }
}
