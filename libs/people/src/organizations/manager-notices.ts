import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { type Email, type NoticeKind, Outbox } from '@app/jobs';

/** An owner or admin, and the organization as mails show it. */
interface Manager {
  id: string;
  to: string;
  firstName: string;
  name: string;
  role: 'owner' | 'admin';
  organization: { name: string; slug: string; timeZone: string };
}

export interface ManagerNotice {
  kind: NoticeKind;
  /** The page of the organization that the mail links to: `/people`. */
  page: string;
  role?: Email['role'];
  /** Whether only owners are mailed. */
  owners?: boolean;
  /** These are not mailed: who did it, and whom it is about. */
  except?: (string | null)[];
  /** What the mail is about. @param nameOf the name of a manager; null for anybody else */
  about?: (
    nameOf: (id: string | null) => string | null,
  ) => Pick<Email, 'key' | 'membership' | 'settings' | 'webhook' | 'exported'>;
}

/** Mails to everyone who manages an organization. None is ever left out; several within ten minutes become one. */
@Injectable()
export class ManagerNotices {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly outbox: Outbox,
  ) {}

  /** False for a command on a machine without the encryption key: the worker could not decrypt its mails. */
  get able(): boolean {
    return this.outbox.sendsMail && this.env.get('ENCRYPTION_KEY') !== null;
  }

  /** Queues a notice inside the ambient transaction. @returns whether anybody is mailed */
  async tell(
    organizationId: string,
    { kind, page, role = 'admin', owners = false, except = [], about }: ManagerNotice,
  ): Promise<boolean> {
    if (!this.able) return false;
    const managers = await this.db.query<Manager>(sql`
      SELECT user_id AS id, email AS to, first_name AS "firstName", first_name || ' ' || last_name AS name, role,
        json_build_object('name', organization_name, 'slug', organization_slug, 'timeZone', time_zone) AS organization
      FROM organization_administrators()`);
    const told = managers.filter((one) => !except.includes(one.id) && (one.role === 'owner' || !owners));
    if (told.length === 0) return false;
    const { organization } = managers[0]!;
    const home = `${this.env.portalUrl}/o/${organization.slug}`;
    const content = about?.((id) => managers.find((one) => one.id === id)?.name ?? null);
    const link = { url: `${home}${page}` };
    const notices = told.map(({ to, firstName }) => ({
      ...{ kind, to, firstName, role, link, notice: { kind, home } },
      ...content,
    }));
    await this.outbox.addNotices({ organizationId, organization }, kind, notices);
    return true;
  }
}
