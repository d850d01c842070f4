import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Vault } from '@app/config';
import { problemOf } from '@app/jobs';
import type { Courier, Outcome } from '../outbox/courier.js';
import { type Claimed, OutboxStore } from '../outbox/outbox.store.js';

/** Calls the build hooks of sites. */
@Injectable()
export class RebuildCourier implements Courier {
  readonly topic = 'rebuild';

  constructor(
    private readonly store: OutboxStore,
    private readonly vault: Vault,
  ) {}

  async deliver({ id, recipient, createdAt }: Claimed, signal: AbortSignal): Promise<Outcome> {
    const hook = await this.store.rebuildHook(recipient);
    if (!hook) return { status: 'sent', note: 'no_hook' };
    let secret: string;
    try {
      secret = this.vault.open('hook secrets', hook.secret);
    } catch {
      return { status: 'failed', problem: 'secret_unreadable' };
    }
    const body = JSON.stringify({ event: 'rebuild', target: recipient, id, occurred_at: createdAt.toISOString() });
    const timestamp = String(Math.floor(Date.now() / 1000));
    try {
      const response = await fetch(hook.url, {
        method: 'POST',
        body,
        headers: {
          'Content-Type': 'application/json',
          'User-Agent': 'tutoring-worker',
          'X-Timestamp': timestamp,
          'X-Signature': `sha256=${signatureOf(secret, timestamp, body)}`,
        },
        // Only to the configured URL.
        redirect: 'manual',
        signal,
      });
      await response.body?.cancel();
      if (response.ok) return { status: 'sent' };
      return { status: 'failed', problem: `http_${response.status}` };
    } catch (error) {
      return { status: 'failed', problem: signal.aborted ? 'timeout' : problemOf(error) };
    }
  }
}

/** The receiver computes the same and refuses a timestamp that is minutes old. */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
}
