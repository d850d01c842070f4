import { Controller, Get, Param, Post } from '@nestjs/common';
import { EVENT_TYPES } from '@app/database';
import { Refused } from '@app/rules';
import { type ListedEndpoint, MOST_ENDPOINTS, type WebhookEndpointChange, WebhookLog, Webhooks } from '@app/webhooks';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import type { Form } from '../web/form.js';
import { FormOperations, SENT_BEFORE } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { shownDelivery, shownEndpoint, WORDS } from './webhook-words.js';

const LATEST = 5;

/** What the form of an endpoint says. */
interface Typed {
  url: string;
  description: string;
  all: boolean;
  types: string[];
}

type Errors = Partial<Record<'url' | 'description' | 'event_types' | 'form', string>>;

/** Where an organization has its events sent. */
@Controller('o/:slug/webhooks')
@ForManagers()
export class EndpointsController {
  constructor(
    private readonly operations: FormOperations,
    private readonly webhooks: Webhooks,
    private readonly log: WebhookLog,
  ) {}

  @Get()
  @InNavigation('Developers', 'Webhooks', 2)
  async list(@Managing() { organizationId }: Managed): Promise<Page> {
    const endpoints = await this.log.endpoints(organizationId);
    return page('webhooks/list', { endpoints: endpoints.map(shownEndpoint), most: MOST_ENDPOINTS, words: WORDS });
  }

  @Get('new')
  @ConfirmIdentity()
  form(): Page {
    return formPage({ url: '', description: '', all: true, types: [] }, {});
  }

  @Post('new')
  @ConfirmIdentity()
  create(@Managing() organization: Managed): Promise<Page | SeeOther> {
    const { organizationId, slug, by, form } = organization;
    const typed = readForm(form);
    return orErrors<Page | SeeOther>(
      async () => {
        const add = async () => {
          const { id, ...answer } = await this.webhooks.make(organizationId, by, wantedBy(typed));
          return { id, audit: { endpoint_id: id }, answer };
        };
        const made = await this.operations.perform(organization, 'POST /v1/webhook-endpoints', {}, add);
        if (!made) return seeOther(`/o/${slug}/webhooks`, 'notice', SENT_BEFORE);
        return page('webhooks/secret', {
          title: 'Endpoint created',
          endpointId: made.id,
          ...made.answer,
          replaced: false,
        });
      },
      (errors) => formPage(typed, errors),
    );
  }

  @Get(':endpoint_id')
  async show(@Managing() { organizationId }: Managed, @Param('endpoint_id') id: string): Promise<Page> {
    const endpoint = await this.find(organizationId, id);
    const latest = await this.log.deliveries(organizationId, { endpointId: endpoint.id, most: LATEST });
    const deliveries = latest.slice(0, LATEST).map(shownDelivery);
    return page('webhooks/endpoint', { endpoint: shownEndpoint(endpoint), deliveries });
  }

  @Get(':endpoint_id/change')
  @ConfirmIdentity()
  async askChange(@Managing() { organizationId }: Managed, @Param('endpoint_id') id: string): Promise<Page> {
    const endpoint = await this.find(organizationId, id);
    const { url, description, eventTypes: types } = endpoint;
    return formPage({ url, description: description ?? '', all: types.length === 0, types }, {}, endpoint);
  }

  @Post(':endpoint_id/change')
  @ConfirmIdentity()
  async change(@Managing() organization: Managed, @Param('endpoint_id') id: string): Promise<Page | SeeOther> {
    const { organizationId, slug, form } = organization;
    const endpoint = await this.find(organizationId, id);
    const typed = readForm(form);
    return orErrors<Page | SeeOther>(
      async () => {
        await this.changed(organization, endpoint, wantedBy(typed), false);
        return seeOther(`/o/${slug}/webhooks/${endpoint.id}`, 'success', 'The endpoint was changed.');
      },
      (errors) => formPage(typed, errors, endpoint),
    );
  }

  @Post(':endpoint_id/enable')
  @ConfirmIdentity()
  enable(@Managing() organization: Managed, @Param('endpoint_id') id: string): Promise<SeeOther> {
    return this.switched(organization, id, true, 'The endpoint is on. It gets what was waiting for it first.');
  }

  @Post(':endpoint_id/disable')
  @ConfirmIdentity()
  disable(@Managing() organization: Managed, @Param('endpoint_id') id: string): Promise<SeeOther> {
    return this.switched(organization, id, false, 'The endpoint is off. Events wait for it for 30 days.');
  }

  @Post(':endpoint_id/test')
  async test(@Managing() organization: Managed, @Param('endpoint_id') id: string): Promise<SeeOther> {
    const { organizationId, slug } = organization;
    const endpoint = await this.find(organizationId, id);
    const base = `/o/${slug}/webhooks`;
    const test = async () => {
      const delivery = await this.webhooks.test(organizationId, endpoint.id);
      return { audit: { delivery_id: delivery }, answer: delivery };
    };
    return this.operations.answer(
      organization,
      'POST /v1/webhook-endpoints/:endpoint_id/test',
      { endpoint_id: endpoint.id },
      test,
      `${base}/${endpoint.id}`,
      ({ answer }) => seeOther(`${base}/deliveries/${answer}`, 'success', 'The test is on its way.'),
    );
  }

  @Get(':endpoint_id/rotate')
  @ConfirmIdentity()
  async askRotate(@Managing() { organizationId }: Managed, @Param('endpoint_id') id: string): Promise<Page> {
    return page('webhooks/rotate', { endpoint: shownEndpoint(await this.find(organizationId, id)) });
  }

  @Post(':endpoint_id/rotate')
  @ConfirmIdentity()
  async rotate(@Managing() organization: Managed, @Param('endpoint_id') id: string): Promise<Page | SeeOther> {
    const { organizationId, slug } = organization;
    const endpoint = await this.find(organizationId, id);
    const rotate = async () => ({ answer: await this.webhooks.rotateSecret(organizationId, endpoint.id) });
    const operation = 'POST /v1/webhook-endpoints/:endpoint_id/rotate-secret';
    const made = await this.operations.perform(organization, operation, { endpoint_id: endpoint.id }, rotate);
    if (!made) return seeOther(`/o/${slug}/webhooks/${endpoint.id}`, 'notice', SENT_BEFORE);
    return page('webhooks/secret', {
      title: 'Secret replaced',
      endpointId: endpoint.id,
      secret: made.answer,
      replaced: true,
    });
  }

  @Get(':endpoint_id/delete')
  @ConfirmIdentity()
  async askDelete(@Managing() { organizationId }: Managed, @Param('endpoint_id') id: string): Promise<Page> {
    return page('webhooks/delete', { endpoint: shownEndpoint(await this.find(organizationId, id)) });
  }

  @Post(':endpoint_id/delete')
  @ConfirmIdentity()
  async remove(@Managing() organization: Managed, @Param('endpoint_id') id: string): Promise<SeeOther> {
    const { organizationId, slug } = organization;
    const ids = { endpoint_id: (await this.find(organizationId, id)).id };
    const remove = () => this.webhooks.remove(organizationId, ids.endpoint_id);
    const operation = 'DELETE /v1/webhook-endpoints/:endpoint_id';
    await this.operations.perform(organization, operation, ids, remove, { repeatable: true });
    return seeOther(`/o/${slug}/webhooks`, 'success', 'The endpoint was deleted.');
  }

  /** @throws PageError 404, also for endpoints of other organizations */
  private async find(organizationId: string, id: string): Promise<ListedEndpoint> {
    const [endpoint] = await this.log.endpoints(organizationId, pathId(id));
    if (!endpoint) throw PageError.notFound();
    return endpoint;
  }

  private async switched(organization: Managed, id: string, enabled: boolean, done: string): Promise<SeeOther> {
    const endpoint = await this.find(organization.organizationId, id);
    await this.changed(organization, endpoint, { enabled });
    return seeOther(`/o/${organization.slug}/webhooks/${endpoint.id}`, 'success', done);
  }

  private changed(organization: Managed, { id }: ListedEndpoint, change: WebhookEndpointChange, repeatable = true) {
    const run = () => this.webhooks.change(organization.organizationId, organization.by, id, change);
    const operation = 'PATCH /v1/webhook-endpoints/:endpoint_id';
    return this.operations.perform(organization, operation, { endpoint_id: id }, run, { repeatable });
  }
}

/** @throws Refused if none are chosen: that would mean all */
function chosenIn({ all, types }: Typed): string[] {
  if (all) return [];
  if (types.length === 0) throw Refused.invalid('Choose at least one of these.', 'event_types');
  return types;
}

const readForm = (form: Form): Typed => ({
  url: form.text('url'),
  description: form.text('description'),
  all: form.text('events') !== 'some',
  types: form.list('event_types'),
});

const wantedBy = (typed: Typed) => ({
  url: typed.url,
  description: typed.description || null,
  event_types: chosenIn(typed),
});

/** Types by what they are about. */
const KINDS = Map.groupBy(EVENT_TYPES, ({ resource }) => resource);

/** @param endpoint the one that is changed; null for a new one */
function formPage(typed: Typed, errors: Errors, endpoint: ListedEndpoint | null = null): Page {
  const status = Object.keys(errors).length > 0 ? 422 : 200;
  return page(
    'webhooks/form',
    { typed, errors, kinds: [...KINDS], endpoint: endpoint && shownEndpoint(endpoint) },
    status,
  );
}

/** What a rule has against what was typed, at its field. */
async function orErrors<T>(work: () => Promise<T>, again: (errors: Errors) => T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused) || error.why.kind === 'not_found') throw error;
    const refusals = error.why.kind === 'invalid' ? error.why.refusals : [{ at: ['form'], reason: error.message }];
    return again(Object.fromEntries(refusals.map(({ at: [field], reason }) => [field ?? 'form', reason])));
  }
}
