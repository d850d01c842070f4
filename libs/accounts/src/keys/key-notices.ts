import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { type KeyEmailKind, type KeyInMail, Outbox } from '@app/jobs';

interface Administrator {
  id: string;
  to: string;
  firstName: string;
  lastName: string;
  organization: { name: string; slug: string; timeZone: string };
}

/** Mails about API keys, to everyone who administers the organization. */
@Injectable()
export class KeyNotices {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly outbox: Outbox,
  ) {}

  /** False for a command on a machine without the encryption key: the worker could not decrypt its mails. */
  get able(): boolean {
    return this.outbox.sendsMail && this.env.get('ENCRYPTION_KEY') !== null;
  }

  /** Queues a mail to every owner and admin. No limits: somebody could use them up, then create a key. @param by null for the operator */
  async tell(organizationId: string, kind: KeyEmailKind, by: string | null, key: Omit<KeyInMail, 'by'>): Promise<void> {
    if (!this.able) return;
    const people = await this.db.query<Administrator>(sql`
      SELECT user_id AS id, email AS to, first_name AS "firstName", last_name AS "lastName", json_build_object(
        'name', organization_name, 'slug', organization_slug, 'timeZone', time_zone) AS organization
      FROM organization_administrators()`);
    if (people.length === 0) return;
    const { organization } = people[0]!;
    const actor = people.find(({ id }) => id === by);
    const link = { url: `${this.env.portalUrl}/o/${organization.slug}/keys` };
    const change = { ...key, by: actor ? `${actor.firstName} ${actor.lastName}` : null };
    const mails = people.map(
      ({ to, firstName }) => ({ kind, to, firstName, role: 'admin', link, key: change }) as const,
    );
    await this.outbox.addAdmitted({ organizationId, organization }, mails);
  }
}
