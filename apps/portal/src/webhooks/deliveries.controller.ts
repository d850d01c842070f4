import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { canonicalUuid, pageOf, parseDate } from '@app/database';
import { startOfDay } from '@app/scheduling';
import { DELIVERY_STATUSES, WebhookLog, Webhooks } from '@app/webhooks';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { positionText, queryOf, readPosition } from '../web/paging.js';
import { pathId } from '../web/path-id.js';
import { nameOf, shownDelivery, WORDS } from './webhook-words.js';

const PAGE = 25;

/** What is sent to webhook endpoints, and what they answered. */
@Controller('o/:slug/webhooks/deliveries')
@ForManagers()
export class DeliveriesController {
  constructor(
    private readonly operations: FormOperations,
    private readonly webhooks: Webhooks,
    private readonly log: WebhookLog,
  ) {}

  @Get()
  async list(
    @Managing() { organizationId, timeZone }: Managed,
    @Query() query: Record<string, unknown>,
  ): Promise<Page> {
    const filters = readFilters(query);
    const { endpoint, status, type, since, before } = filters;
    const [endpoints, found] = await Promise.all([
      this.log.named(organizationId),
      this.log.deliveries(organizationId, {
        ...{ endpointId: endpoint, status, type: type && type.replace('*', ''), after: before, most: PAGE },
        since: since === null ? null : startOfDay(since, timeZone),
      }),
    ]);
    const { rows, next: older } = pageOf(found, PAGE, 'createdAt');
    const own = { endpoint, status, type, since };
    return page('webhooks/deliveries', {
      endpoints: endpoints.map((one) => ({ id: one.id, name: nameOf(one) })),
      deliveries: rows.map(shownDelivery),
      filters: { ...filters, any: Object.values(own).some((value) => value !== null) },
      words: WORDS,
      newest: queryOf(own) || '?',
      older: older && queryOf({ ...own, before: positionText(older) }),
    });
  }

  @Get(':delivery_id')
  async show(@Managing() { organizationId }: Managed, @Param('delivery_id') id: string): Promise<Page> {
    const [delivery] = await this.log.deliveries(organizationId, { id: pathId(id), most: 1 });
    if (!delivery) throw PageError.notFound();
    return page('webhooks/delivery', { delivery: shownDelivery(delivery) });
  }

  @Post(':delivery_id/replay')
  replay(@Managing() organization: Managed, @Param('delivery_id') id: string): Promise<SeeOther> {
    const ids = { delivery_id: pathId(id) };
    const replay = () => this.webhooks.replay(organization.organizationId, ids.delivery_id);
    const at = `/o/${organization.slug}/webhooks/deliveries/${ids.delivery_id}`;
    const operation = 'POST /v1/webhook-deliveries/:delivery_id/replay';
    return this.operations.answer(organization, operation, ids, replay, at, 'The call is on its way again.');
  }
}

/** The filters in the query; null for none. Invalid values are ignored. */
function readFilters({ endpoint, status, type, since, before }: Record<string, unknown>) {
  const text = (value: unknown, shape: RegExp) =>
    typeof value === 'string' && shape.test(value.trim()) ? value.trim() : null;
  const day = text(since, /^\d{4}-\d\d-\d\d$/);
  return {
    endpoint: typeof endpoint === 'string' ? canonicalUuid(endpoint) : null,
    status: DELIVERY_STATUSES.find((one) => one === status) ?? null,
    type: text(type, /^[a-z_.]{1,100}\*?$/),
    since: day && parseDate(day) ? day : null,
    before: readPosition(before),
  };
}
