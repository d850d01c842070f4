import { Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { isStorable } from '@app/database';
import { inWords, Outbox, MAIL_STATUSES, type OutboxMail, OutboxMessages } from '@app/jobs';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { positionText, queryOf, readPosition } from '../web/paging.js';
import { MAIL_KINDS } from './mail-kinds.js';

const LONGEST_SEARCH = 100;
const PAGE = 25;
const MOST_SUPPRESSIONS = 25;

/** The organization's mails: their state, and how to send one again. */
@Controller('o/:slug/outbox')
@ForManagers()
class OutboxController {
  constructor(
    private readonly operations: FormOperations,
    private readonly messages: OutboxMessages,
    private readonly outbox: Outbox,
  ) {}

  @Get()
  @InNavigation('Developers', 'Outbox', 4)
  async show(@Managing() { organizationId }: Managed, @Query() query: Record<string, unknown>): Promise<Page> {
    const status = MAIL_STATUSES.find((one) => one === query.status) ?? null;
    const to = searchedIn(query.to);
    const before = readPosition(query.before);
    const wanted = { kinds: Object.keys(MAIL_KINDS), status, to, after: before, most: PAGE };
    const [{ rows: mails, next: older }, suppressed, allowance] = await Promise.all([
      this.messages.mails(organizationId, wanted),
      this.messages.suppressions(organizationId, MOST_SUPPRESSIONS + 1),
      this.outbox.allowance(organizationId),
    ]);
    return page('outbox/outbox', {
      mails: mails.map(shown),
      suppressions: { shown: suppressed.slice(0, MOST_SUPPRESSIONS), more: suppressed.length > MOST_SUPPRESSIONS },
      allowance,
      status,
      to,
      before,
      statuses: MAIL_STATUSES,
      newest: queryOf({ status, to }) || '?',
      older: older && queryOf({ status, to, before: positionText(older) }),
    });
  }

  @Post('messages/:message_id/retry')
  async retry(@Managing() organization: Managed, @Param('message_id') id: string): Promise<SeeOther> {
    const ids = { message_id: pathId(id) };
    if (!(await this.messages.exists(organization.organizationId, ids.message_id))) throw PageError.notFound();
    const retry = () => this.messages.retry(ids.message_id);
    const queued = await this.operations.perform(organization, 'retry_mail', ids, retry, { repeatable: true });
    const notice = 'This email can no longer be queued again: only emails that failed or were given up can.';
    const success = 'The email has been queued again. It will be sent within a few seconds.';
    return seeOther(`/o/${organization.slug}/outbox`, queued ? 'success' : 'notice', queued ? success : notice);
  }

  @Post('allow')
  @ConfirmIdentity()
  async allow(@Managing() organization: Managed): Promise<SeeOther> {
    const address = organization.form.text('address');
    const allow = async () => {
      // Its suppression affects none of the organization's mails.
      if (!(await this.messages.allow(address))) throw PageError.notFound();
    };
    await this.operations.perform(organization, 'allow_address', {}, allow, { repeatable: true });
    const text = `Email to ${address} is allowed again. Resend the invitation to try again.`;
    return seeOther(`/o/${organization.slug}/outbox`, 'success', text);
  }
}

/** A mail, as the page shows it: what it is, why it was not sent, and whether it can be queued again. */
const shown = (mail: OutboxMail) => ({
  ...mail,
  label: MAIL_KINDS[mail.kind]!,
  reason: mail.problem && inWords(mail.problem),
  retryable: mail.status === 'failed' || mail.status === 'dead',
});

/** Part of an address; empty for everything that cannot be one. */
function searchedIn(text: unknown): string {
  const part = typeof text === 'string' ? text.trim() : '';
  return part.length <= LONGEST_SEARCH && isStorable(part) ? part : '';
}

@Module({ controllers: [OutboxController] })
export class OutboxModule {}
