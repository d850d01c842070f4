import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Actor } from '@app/audit';
import { ApiKeys, KeyMadeBefore, KeyRefused, type ListedKey, type Overlap } from '@app/accounts';
import { PageError } from '../web/page-error.js';
import { HandOvers } from './hand-overs.js';
import { errorsOf, type KeyForm, type KeyFormErrors, wantedBy } from './key-form.js';

/** A page of the list. */
export interface KeyPage {
  keys: ListedKey[];
  number: number;
  more: boolean;
}

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

  async list(organizationId: string, number: number): Promise<KeyPage> {
    const keys = await this.keys.list(organizationId, PAGE_SIZE + 1, (number - 1) * PAGE_SIZE);
    return { keys: keys.slice(0, PAGE_SIZE), number, more: keys.length > PAGE_SIZE };
  }

  /** @throws PageError 404, also for keys of other organizations */
  async get(organizationId: string, id: string): Promise<ListedKey> {
    const key = await this.keys.get(organizationId, id);
    if (!key) throw PageError.notFound();
    return key;
  }

  create(request: Request, by: Actor, form: KeyForm): Promise<Made> {
    const { organizationId } = request.membership!;
    const handOver = (made: { id: string; key: string }) => this.handOvers.keep(request, organizationId, made);
    return outcomeOf(() => this.keys.create(organizationId, wantedBy(form), by, handOver));
  }

  replace(request: Request, by: Actor, id: string, overlap: Overlap, formToken: string): Promise<Made> {
    const { organizationId } = request.membership!;
    const handOver = (made: { id: string; key: string }) => this.handOvers.keep(request, organizationId, made);
    return outcomeOf(() => this.keys.replace(organizationId, id, { overlap, formToken }, by, handOver));
  }

  /** @throws PageError 404 */
  async revoke(organizationId: string, by: Actor, id: string): Promise<ListedKey> {
    const key = await this.keys.revokeOf(organizationId, id, by);
    if (!key) throw PageError.notFound();
    return key;
  }

  /** The text of a new key, once; null afterwards. A HEAD request does not use it up. */
  show(request: Request, id: string): Promise<string | null> {
    if (request.method === 'HEAD') return Promise.resolve(null);
    return this.handOvers.take(request, request.membership!.organizationId, id);
  }
}

/** @throws PageError 404 when there is no such key */
async function outcomeOf(make: () => Promise<{ id: string } | null>): Promise<Made> {
  try {
    const made = await make();
    if (!made) throw PageError.notFound();
    return { id: made.id };
  } catch (error) {
    if (error instanceof KeyMadeBefore) return { id: error.id };
    if (error instanceof KeyRefused) return { errors: errorsOf(error.problem, error.message) };
    throw error;
  }
}
