import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { type KeyEmailKind, type KeyInMail, Outbox } from '@app/jobs';

interface Administrator {
  user_id: string;
  email: string;
  first_name: string;
  last_name: string;
  organization_name: string;
  organization_slug: string;
  time_zone: string;
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
    const people = await this.db.query<Administrator>(sql`SELECT * FROM organization_administrators()`);
    if (people.length === 0) return;
    const { organization_name: name, organization_slug: slug, time_zone: timeZone } = people[0]!;
    const actor = people.find(({ user_id: id }) => id === by);
    const link = { url: `${this.env.portalUrl}/o/${slug}/keys` };
    const change = { ...key, by: actor ? `${actor.first_name} ${actor.last_name}` : null };
    await this.outbox.addAdmitted(
      { organizationId, organization: { name, timeZone } },
      people.map(({ email: to, first_name: firstName }) => ({ kind, to, firstName, role: 'admin', link, key: change })),
    );
  }
}
