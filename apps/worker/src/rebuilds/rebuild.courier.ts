import { Injectable } from '@nestjs/common';
import { Calls, hmacOf, succeeded } from '../calls/calls.js';
import type { Courier, Outcome } from '../outbox/courier.js';
import { type Claimed, OutboxStore } from '../outbox/outbox.store.js';

/** Calls the build hooks of sites. */
@Injectable()
export class RebuildCourier implements Courier {
  readonly topic = 'rebuild';

  constructor(
    private readonly store: OutboxStore,
    private readonly calls: Calls,
  ) {}

  async deliver({ id, kind, recipient, createdAt }: Claimed, signal: AbortSignal): Promise<Outcome> {
    const hook = await this.store.rebuildHook(recipient);
    if (!hook) return { status: 'sent', note: 'no_hook' };
    const body = JSON.stringify({ event: kind, target: recipient, id, occurred_at: createdAt.toISOString() });
    const timestamp = String(Math.floor(Date.now() / 1000));
    let signed: string[];
    try {
      signed = this.calls.signatures(hook, 'hook secrets', (secret) => signatureOf(secret, timestamp, body));
    } catch {
      return { status: 'failed', problem: 'secret_unreadable' };
    }
    const [current, previous] = signed.map((signature) => `sha256=${signature}`);
    const headers = {
      'X-Timestamp': timestamp,
      'X-Signature': current!,
      // While a secret is being replaced, the previous one signs too.
      ...(previous && { 'X-Signature-Previous': previous }),
    };
    const response = await this.calls.post({ hook, headers, body, signal });
    if (typeof response === 'string') return { status: 'failed', problem: response };
    return succeeded(response) ? { status: 'sent' } : { status: 'failed', problem: `http_${response.status}` };
  }
}

/** The receiver computes the same signature and rejects timestamps that are minutes old. */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  return hmacOf(secret, `${timestamp}.${body}`).digest('hex');
}
