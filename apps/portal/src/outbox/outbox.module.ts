import { Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { isStorable } from '@app/database';
import { OUTBOX_STATUSES } from '@app/jobs';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { placeText, queryOf, readPlace } from '../web/place.js';
import { OutboxService } from './outbox.service.js';

const LONGEST_SEARCH = 100;

/** The organization's mails: their state, and how to send one again. */
@Controller('o/:slug/outbox')
@ForManagers()
class OutboxController {
  constructor(private readonly outbox: OutboxService) {}

  @Get()
  @InNavigation({
    label: 'Outbox',
    summary: 'The emails sent for your organization, and why some did not arrive.',
    order: 40,
  })
  async show(@Managing() { organizationId }: Managed, @Query() query: Record<string, unknown>): Promise<Page> {
    const status = OUTBOX_STATUSES.find((one) => one === query.status) ?? null;
    const to = searchedIn(query.to);
    const before = readPlace(query.before);
    const [{ mails, older }, suppressions, allowance] = await Promise.all([
      this.outbox.mails(organizationId, { status, to }, before),
      this.outbox.suppressions(organizationId),
      this.outbox.allowance(organizationId),
    ]);
    return page('outbox/outbox', {
      mails,
      suppressions,
      allowance,
      status,
      to,
      before,
      statuses: OUTBOX_STATUSES,
      newest: queryOf({ status, to }) || '?',
      older: older && queryOf({ status, to, before: placeText(older) }),
    });
  }

  @Post('messages/:message_id/retry')
  async retry(@Managing() { organizationId, slug, by }: Managed, @Param('message_id') id: string): Promise<SeeOther> {
    const queued = await this.outbox.retry(organizationId, by, pathId(id));
    const notice = 'This email can no longer be queued again: only emails that failed or were given up can.';
    const success = 'The email has been queued again. It will be sent within a few seconds.';
    return seeOther(`/o/${slug}/outbox`, queued ? 'success' : 'notice', queued ? success : notice);
  }

  @Post('allow')
  @ConfirmIdentity()
  async allow(@Managing() { organizationId, slug, by, form }: Managed): Promise<SeeOther> {
    const address = form.text('address');
    await this.outbox.allow(organizationId, by, address);
    const text = `Email to ${address} is allowed again. Resend the invitation to try again.`;
    return seeOther(`/o/${slug}/outbox`, 'success', text);
  }
}

/** Part of an address; empty for everything that cannot be one. */
function searchedIn(text: unknown): string {
  const part = typeof text === 'string' ? text.trim() : '';
  return part.length <= LONGEST_SEARCH && isStorable(part) ? part : '';
}

@Module({ controllers: [OutboxController], providers: [OutboxService] })
export class OutboxModule {}
