import { Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { INBOX } from '@app/database';
import { Inbox, MessagingModule } from '@app/messaging';
import { ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { positionText, queryOf, readPosition } from '../web/paging.js';
import { InboxService } from './inbox.service.js';

/** What was written to the organization itself. */
@Controller('o/:slug/inbox')
@ForManagers()
class InboxController {
  constructor(
    private readonly messages: InboxService,
    private readonly operations: FormOperations,
    private readonly inbox: Inbox,
  ) {}

  @Get()
  @InNavigation('Inbox')
  async show(@Managing() { organizationId }: Managed, @Query() query: Record<string, unknown>): Promise<Page> {
    const status = INBOX.values.find((one) => one === query.status) ?? null;
    const before = readPosition(query.before);
    const { messages, older } = await this.messages.messages(organizationId, status, before);
    return page('inbox/inbox', {
      messages,
      status,
      before,
      statuses: INBOX.values,
      newest: queryOf({ status }) || '?',
      older: older && queryOf({ status, before: positionText(older) }),
    });
  }

  @Post(':inbox_message_id/read')
  read(@Managing() managed: Managed, @Param('inbox_message_id') id: string): Promise<SeeOther> {
    return this.change(managed, id, 'read', 'Marked as read.');
  }

  @Post(':inbox_message_id/archive')
  archive(@Managing() managed: Managed, @Param('inbox_message_id') id: string): Promise<SeeOther> {
    return this.change(managed, id, 'archive', 'Archived.');
  }

  private change(
    organization: Managed,
    id: string,
    action: (typeof INBOX.actions)[number],
    success: string,
  ): Promise<SeeOther> {
    const ids = { inbox_message_id: pathId(id) };
    const change = () => this.inbox.change(organization.organizationId, ids.inbox_message_id, action);
    const path = `/o/${organization.slug}/inbox`;
    return this.operations.answer(organization, `${action} inbox message`, ids, change, path, success);
  }
}

@Module({ imports: [MessagingModule], controllers: [InboxController], providers: [InboxService] })
export class InboxModule {}
