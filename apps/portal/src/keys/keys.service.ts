import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Actor } from '@app/audit';
import { ApiKeys, type KeyFilter, KeyMadeBefore, type ListedKey, type MadeKey, type Overlap } from '@app/access';
import { Refused } from '@app/rules';
import { PageError } from '../web/page-error.js';
import { HandOvers } from './hand-overs.js';
import { errorsOf, type KeyForm, type KeyFormErrors, wantedBy } from './key-form.js';

const PAGE_SIZE = 25;

/** The id of the key that this form created, now or before; or the errors. */
export type Made = { id: string } | { errors: KeyFormErrors };

/** API keys for the pages. */
@Injectable()
export class KeysService {
  constructor(
    private readonly keys: ApiKeys,
    private readonly handOvers: HandOvers,
  ) {}

  async list(organizationId: string, filter: KeyFilter, number: number) {
    const keys = await this.keys.list(organizationId, PAGE_SIZE + 1, (number - 1) * PAGE_SIZE, filter);
    return { keys: keys.slice(0, PAGE_SIZE), number, more: keys.length > PAGE_SIZE };
  }

  /** @throws PageError 404, also for keys of other organizations */
  async get(organizationId: string, id: string): Promise<ListedKey> {
    const key = await this.keys.get(organizationId, id);
    if (!key) throw PageError.notFound();
    return key;
  }

  /** What replaces a key, and what it replaced. */
  async relatives(organizationId: string, { id, replacedBy }: ListedKey) {
    const [successor, predecessor] = await Promise.all([
      replacedBy ? this.keys.get(organizationId, replacedBy) : null,
      this.keys.replacedBy(organizationId, id),
    ]);
    return { successor, predecessor };
  }

  create(request: Request, by: Actor, form: KeyForm, formToken: string): Promise<Made> {
    const { organizationId } = request.membership!;
    const wanted = { ...wantedBy(form), formToken };
    return outcomeOf(this.keys.create(organizationId, wanted, by, this.handOver(request)));
  }

  replace(request: Request, by: Actor, id: string, overlap: Overlap, formToken: string): Promise<Made> {
    const { organizationId } = request.membership!;
    return outcomeOf(this.keys.replace(organizationId, id, { overlap, formToken }, by, this.handOver(request)));
  }

  revoke(organizationId: string, by: Actor, id: string, replaceCodes: boolean): Promise<ListedKey> {
    return this.keys.revokeOf(organizationId, id, by, replaceCodes);
  }

  /** The text of a new key, once; null afterwards. A HEAD request does not use it up. */
  show(request: Request, id: string): Promise<string | null> {
    if (request.method === 'HEAD') return Promise.resolve(null);
    return this.handOvers.take(request, request.membership!.organizationId, id);
  }

  private handOver(request: Request) {
    return (made: MadeKey) => this.handOvers.keep(request, request.membership!.organizationId, made);
  }
}

async function outcomeOf(made: Promise<MadeKey>): Promise<Made> {
  try {
    return { id: (await made).id };
  } catch (error) {
    if (error instanceof KeyMadeBefore) return { id: error.id };
    if (error instanceof Refused && error.why.kind !== 'not_found') return { errors: errorsOf(error) };
    throw error;
  }
}
