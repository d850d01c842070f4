import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Env, Vault } from '@app/config';
import { problemOf } from '@app/jobs';
import type { Courier, Outcome } from '../outbox/courier.js';
import { type Claimed, type Hook, OutboxStore } from '../outbox/outbox.store.js';
import { post } from './hook-request.js';
import { AddressNotPublic } from './public-address.js';

/** Calls the build hooks of sites. */
@Injectable()
export class RebuildCourier implements Courier {
  readonly topic = 'rebuild';
  /** False in development, where sites are built on the worker's machine. */
  private readonly publicOnly: boolean;

  constructor(
    private readonly store: OutboxStore,
    private readonly vault: Vault,
    env: Env,
  ) {
    this.publicOnly = env.production;
  }

  async deliver({ id, kind, recipient, createdAt }: Claimed, signal: AbortSignal): Promise<Outcome> {
    const hook = await this.store.rebuildHook(recipient);
    if (!hook) return { status: 'sent', note: 'no_hook' };
    const body = JSON.stringify({ event: kind, target: recipient, id, occurred_at: createdAt.toISOString() });
    let signatures: Record<string, string>;
    try {
      signatures = this.sign(hook, body);
    } catch {
      return { status: 'failed', problem: 'secret_unreadable' };
    }
    try {
      const headers = { 'Content-Type': 'application/json', 'User-Agent': 'tutoring-worker', ...signatures };
      const status = await post(hook.url, { headers, body, publicOnly: this.publicOnly && !hook.trusted, signal });
      return status >= 200 && status < 300 ? { status: 'sent' } : { status: 'failed', problem: `http_${status}` };
    } catch (error) {
      if (error instanceof AddressNotPublic) return { status: 'failed', problem: 'address_not_public' };
      return { status: 'failed', problem: signal.aborted ? 'timeout' : problemOf(error) };
    }
  }

  /** While a secret is being replaced, the previous one signs too. @throws Error when a secret cannot be decrypted */
  private sign({ secret, previousSecret }: Hook, body: string): Record<string, string> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = (sealed: Buffer) =>
      `sha256=${signatureOf(this.vault.open('hook secrets', sealed), timestamp, body)}`;
    return {
      'X-Timestamp': timestamp,
      'X-Signature': signature(secret),
      ...(previousSecret && { 'X-Signature-Previous': signature(previousSecret) }),
    };
  }
}

/** The receiver computes the same signature and rejects timestamps that are minutes old. */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
}
