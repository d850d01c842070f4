import { Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { type ListedKey, OVERLAPS, readsCodes, SCOPES } from '@app/access';
import { Env } from '@app/config';
import { ActivityModule } from '../activity/activity.module.js';
import { ActivityService } from '../activity/activity.service.js';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { HandOvers } from './hand-overs.js';
import { emptyForm, type KeyForm, type KeyFormErrors, LIFETIMES, overlapOf, readForm } from './key-form.js';
import { LONGEST_SEARCH, queryOf, readFilter } from './keys.filter.js';
import { KeysService } from './keys.service.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** The developer settings of an organization: its API keys. */
@Controller('o/:slug/keys')
@ForManagers()
class KeysController {
  constructor(
    private readonly keys: KeysService,
    private readonly activity: ActivityService,
    private readonly env: Env,
  ) {}

  @Get()
  @InNavigation('Developers', 'API keys', 0)
  async list(@Managing() { organizationId }: Managed, @Query() query: Record<string, unknown>): Promise<Page> {
    const [filter, number] = [readFilter(query), pageNumber(query.page)];
    const found = await this.keys.list(organizationId, filter, number);
    const filtered = queryOf(filter, 1) !== '';
    return page('keys/list', { page: found, filter, filtered, queryOf, longest: LONGEST_SEARCH });
  }

  @Get('new')
  @ConfirmIdentity()
  form(@Managing() { timeZone }: Managed): Page {
    return formPage(emptyForm(), timeZone);
  }

  @Post()
  @ConfirmIdentity('/o/:slug/keys/new')
  async create(@Managing() { slug, timeZone, by, form: sent, request }: Managed): Promise<Page | SeeOther> {
    const form = readForm(sent);
    const made = await this.keys.create(request, by, form, sent.token);
    return 'errors' in made ? formPage(form, timeZone, made.errors) : seeOther(`/o/${slug}/keys/${made.id}/created`);
  }

  @Get(':key_id')
  async show(@Managing() organization: Managed, @Param('key_id') id: string): Promise<Page> {
    const key = await this.keys.get(organization.organizationId, pathId(id));
    const [chart, relatives] = await Promise.all([
      this.activity.chart(organization, key.id),
      this.keys.relatives(organization.organizationId, key),
    ]);
    return page('keys/key', { key, chart, ...relatives });
  }

  @Get(':key_id/created')
  async created(@Managing() { organizationId, request }: Managed, @Param('key_id') id: string): Promise<Page> {
    const key = await this.keys.get(organizationId, pathId(id));
    const text = await this.keys.show(request, key.id);
    return text === null ? page('keys/shown', { key }) : page('keys/created', { key, text, api: this.env.apiUrl });
  }

  @Get(':key_id/replace')
  @ConfirmIdentity()
  async askReplace(@Managing() { organizationId }: Managed, @Param('key_id') id: string): Promise<Page> {
    return replacePage(await this.keys.get(organizationId, pathId(id)));
  }

  @Post(':key_id/replace')
  @ConfirmIdentity()
  async replace(@Managing() organization: Managed, @Param('key_id') id: string): Promise<Page | SeeOther> {
    const { organizationId, slug, by, form, request } = organization;
    const made = await this.keys.replace(request, by, pathId(id), overlapOf(form), form.token);
    if (!('errors' in made)) return seeOther(`/o/${slug}/keys/${made.id}/created`);
    return replacePage(await this.keys.get(organizationId, pathId(id)), made.errors, 422);
  }

  @Get(':key_id/revoke')
  @ConfirmIdentity()
  async askRevoke(@Managing() { organizationId }: Managed, @Param('key_id') id: string): Promise<Page> {
    const key = await this.keys.get(organizationId, pathId(id));
    return page('keys/revoke', { key, readsCodes: readsCodes(key) });
  }

  @Post(':key_id/revoke')
  @ConfirmIdentity()
  async revoke(
    @Managing() { organizationId, slug, by, form }: Managed,
    @Param('key_id') id: string,
  ): Promise<SeeOther> {
    const { name } = await this.keys.revoke(organizationId, by, pathId(id), form.text('replace_codes') === 'yes');
    const text = `The key “${name}” is revoked. Requests that use it are now refused.`;
    return seeOther(`/o/${slug}/keys`, 'success', text);
  }
}

function formPage(form: KeyForm, timeZone: string, errors: KeyFormErrors = {}): Page {
  const now = Date.now();
  const lifetimes = Object.entries(LIFETIMES).map(([value, days]) => ({
    value,
    days,
    until: days === null ? null : new Date(now + days * DAY_MS),
  }));
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(now);
  const status = Object.keys(errors).length > 0 ? 422 : 200;
  return page('keys/new', { form, errors, scopes: SCOPES, lifetimes, today }, status);
}

function replacePage(key: ListedKey, errors: KeyFormErrors = {}, status = 200): Page {
  const now = Date.now();
  const overlaps = Object.entries(OVERLAPS).map(([value, hours]) => ({
    value,
    until: new Date(Math.min(now + hours * HOUR_MS, key.expiresAt?.getTime() ?? Infinity)),
  }));
  const life = key.expiresAt && key.expiresAt.getTime() - key.createdAt.getTime();
  const expiresAt = life === null ? null : new Date(now + life);
  return page('keys/replace', { key, errors, overlaps, expiresAt }, status);
}

function pageNumber(text: unknown): number {
  return typeof text === 'string' && /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 1;
}

@Module({ imports: [ActivityModule], controllers: [KeysController], providers: [HandOvers, KeysService] })
export class KeysModule {}
