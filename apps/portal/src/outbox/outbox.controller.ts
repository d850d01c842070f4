import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import type { Actor } from '@app/audit';
import { OUTBOX_STATUSES, type OutboxStatus } from '@app/jobs';
import { By, ForManagers, InNavigation, Organization } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { placeText, readPlace } from '../web/place.js';
import type { Membership } from '../web/sessions.js';
import { OutboxService } from './outbox.service.js';

/** The organization's mails: their state, and how to send one again. */
@Controller('o/:slug/outbox')
export class OutboxController {
  constructor(private readonly outbox: OutboxService) {}

  @Get()
  @ForManagers()
  @InNavigation({
    label: 'Outbox',
    summary: 'The emails sent for your organization, and why some did not arrive.',
    order: 40,
  })
  async show(@Organization() { organizationId }: Membership, @Query() query: Record<string, unknown>): Promise<Page> {
    const status = OUTBOX_STATUSES.find((one) => one === query.status) ?? null;
    const before = readPlace(query.before);
    const [{ mails, older }, suppressions] = await Promise.all([
      this.outbox.mails(organizationId, status, before),
      this.outbox.suppressions(organizationId),
    ]);
    return page('outbox/outbox', {
      mails,
      suppressions,
      status,
      before,
      statuses: OUTBOX_STATUSES,
      newest: queryOf(status, null),
      older: older && queryOf(status, placeText(older)),
    });
  }

  @Post('messages/:message_id/retry')
  @ForManagers()
  async retry(
    @Organization() { organizationId, slug }: Membership,
    @By() by: Actor,
    @Param('message_id') id: string,
  ): Promise<SeeOther> {
    const queued = await this.outbox.retry(organizationId, by, pathId(id));
    return seeOther(
      `/o/${slug}/outbox`,
      queued
        ? { kind: 'success', text: 'The email has been queued again. It will be sent within a few seconds.' }
        : {
            kind: 'notice',
            text: 'This email can no longer be queued again: only emails that failed or were given up can.',
          },
    );
  }

  @Post('allow')
  @ForManagers()
  async allow(
    @Organization() { organizationId, slug }: Membership,
    @By() by: Actor,
    @SentForm() form: Form,
  ): Promise<SeeOther> {
    const address = form.text('address');
    await this.outbox.allow(organizationId, by, address);
    const text = `Email to ${address} is allowed again. Resend the invitation to try again.`;
    return seeOther(`/o/${slug}/outbox`, { kind: 'success', text });
  }
}

function queryOf(status: OutboxStatus | null, before: string | null): string {
  const query = new URLSearchParams({ ...(status && { status }), ...(before !== null && { before }) });
  return `?${query.toString()}`;
}
