import { Controller, Get, Param, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { Actor } from '@app/audit';
import { type ListedKey, OVERLAPS, SCOPES } from '@app/accounts';
import { Env } from '@app/config';
import { By, ForManagers, InNavigation, Organization } from '../web/access.decorators.js';
import { Form, SentForm } from '../web/form.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import type { Membership } from '../web/sessions.js';
import {
  emptyForm,
  formTokenOf,
  type KeyForm,
  type KeyFormErrors,
  LIFETIMES,
  overlapOf,
  readForm,
} from './key-form.js';
import { KeysService } from './keys.service.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** The developer settings of an organization: its API keys. */
@Controller('o/:slug/keys')
export class KeysController {
  constructor(
    private readonly keys: KeysService,
    private readonly env: Env,
  ) {}

  @Get()
  @ForManagers()
  @InNavigation({ label: 'API keys', summary: 'Let programs access your data, and revoke that access.', order: 10 })
  async list(@Organization() { organizationId }: Membership, @Query('page') number: unknown): Promise<Page> {
    return page('keys/list', { page: await this.keys.list(organizationId, pageNumber(number)) });
  }

  @Get('new')
  @ForManagers()
  form(@Organization() { timeZone }: Membership): Page {
    return formPage(emptyForm(), timeZone);
  }

  @Post()
  @ForManagers()
  async create(@Req() request: Request, @By() by: Actor, @SentForm() sent: Form): Promise<Page | SeeOther> {
    const form = readForm(sent);
    const made = await this.keys.create(request, by, form);
    const { slug, timeZone } = request.membership!;
    return 'errors' in made ? formPage(form, timeZone, made.errors) : seeOther(`/o/${slug}/keys/${made.id}/created`);
  }

  @Get(':key_id/created')
  @ForManagers()
  async created(@Req() request: Request, @Param('key_id') id: string): Promise<Page> {
    const key = await this.keys.get(request.membership!.organizationId, pathId(id));
    const text = await this.keys.show(request, key.id);
    return text === null ? page('keys/shown', { key }) : page('keys/created', { key, text, api: this.env.apiUrl });
  }

  @Get(':key_id/replace')
  @ForManagers()
  async askReplace(@Organization() { organizationId }: Membership, @Param('key_id') id: string): Promise<Page> {
    return replacePage(await this.keys.get(organizationId, pathId(id)), emptyForm().formToken);
  }

  @Post(':key_id/replace')
  @ForManagers()
  async replace(
    @Req() request: Request,
    @By() by: Actor,
    @Param('key_id') id: string,
    @SentForm() form: Form,
  ): Promise<Page | SeeOther> {
    const [overlap, token] = [overlapOf(form), formTokenOf(form)];
    const { slug, organizationId } = request.membership!;
    const made = await this.keys.replace(request, by, pathId(id), overlap, token);
    if (!('errors' in made)) return seeOther(`/o/${slug}/keys/${made.id}/created`);
    return replacePage(await this.keys.get(organizationId, pathId(id)), token, made.errors, 422);
  }

  @Get(':key_id/revoke')
  @ForManagers()
  async askRevoke(@Organization() { organizationId }: Membership, @Param('key_id') id: string): Promise<Page> {
    return page('keys/revoke', { key: await this.keys.get(organizationId, pathId(id)) });
  }

  @Post(':key_id/revoke')
  @ForManagers()
  async revoke(
    @Organization() { organizationId, slug }: Membership,
    @By() by: Actor,
    @Param('key_id') id: string,
  ): Promise<SeeOther> {
    const { name } = await this.keys.revoke(organizationId, by, pathId(id));
    const text = `The key “${name}” is revoked. Requests that use it are now refused.`;
    return seeOther(`/o/${slug}/keys`, { kind: 'success', text });
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

function replacePage(key: ListedKey, formToken: string, errors: KeyFormErrors = {}, status = 200): Page {
  const now = Date.now();
  const overlaps = Object.entries(OVERLAPS).map(([value, hours]) => ({
    value,
    until: new Date(Math.min(now + hours * HOUR_MS, key.expiresAt?.getTime() ?? Infinity)),
  }));
  const life = key.expiresAt && key.expiresAt.getTime() - key.createdAt.getTime();
  const expiresAt = life === null ? null : new Date(now + life);
  return page('keys/replace', { key, formToken, errors, overlaps, expiresAt }, status);
}

function pageNumber(text: unknown): number {
  return typeof text === 'string' && /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 1;
}
