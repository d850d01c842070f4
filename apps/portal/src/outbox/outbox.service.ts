import { Injectable } from '@nestjs/common';
import { type Actor, AuditLog } from '@app/audit';
import { Database } from '@app/database';
import { asManager } from '@app/people';
import {
  inWords,
  type MailAllowance,
  Outbox,
  OutboxMessages,
  type OutboxMail,
  type OutboxStatus,
  type Place,
} from '@app/jobs';
import { PageError } from '../web/page-error.js';
import { MAIL_KINDS } from './mail-kinds.js';

const PAGE = 25;
const MOST_SUPPRESSIONS = 25;

/** A mail, as the page shows it. */
interface ShownMail extends OutboxMail {
  label: string;
  /** Why it was not sent. */
  reason: string | null;
  retryable: boolean;
}

/** The mails of an organization and the actions on them. Each change is audited. */
@Injectable()
export class OutboxService {
  constructor(
    private readonly db: Database,
    private readonly messages: OutboxMessages,
    private readonly outbox: Outbox,
    private readonly audit: AuditLog,
  ) {}

  async mails(
    organizationId: string,
    { status, to }: { status: OutboxStatus | null; to: string },
    after: Place | null,
  ): Promise<{ mails: ShownMail[]; older: Place | null }> {
    const wanted = { kinds: Object.keys(MAIL_KINDS), status, to, after, most: PAGE };
    const rows = await this.messages.mails(organizationId, wanted);
    const mails = rows.slice(0, PAGE).map((mail) => ({
      ...mail,
      label: MAIL_KINDS[mail.kind]!,
      reason: mail.problem && inWords(mail.problem),
      retryable: mail.status === 'failed' || mail.status === 'dead',
    }));
    const last = rows.length > PAGE ? mails.at(-1)! : null;
    return { mails, older: last && { at: last.createdAt, id: last.id } };
  }

  allowance(organizationId: string): Promise<MailAllowance> {
    return this.outbox.allowance(organizationId);
  }

  async suppressions(organizationId: string) {
    const rows = await this.messages.suppressions(organizationId, MOST_SUPPRESSIONS + 1);
    return { shown: rows.slice(0, MOST_SUPPRESSIONS), more: rows.length > MOST_SUPPRESSIONS };
  }

  /** @returns false for a mail that cannot be tried again now @throws PageError 404 for one that is not the organization's */
  async retry(organizationId: string, by: Actor, id: string): Promise<boolean> {
    if (!(await this.messages.exists(organizationId, id))) throw PageError.notFound();
    return asManager(this.db, organizationId, by, async () => {
      const queued = await this.messages.retry(id);
      if (queued) await this.audit.add(organizationId, by, 'retry_mail', { message_id: id });
      return queued;
    });
  }

  /** @throws PageError 404 for an address whose suppression affects none of the organization's mails */
  async allow(organizationId: string, by: Actor, address: string): Promise<void> {
    await asManager(this.db, organizationId, by, async () => {
      if (!(await this.messages.allow(address))) throw PageError.notFound();
      await this.audit.add(organizationId, by, 'allow_address', {});
    });
  }
}
