import { Injectable } from '@nestjs/common';
import { eventJson } from '@app/events';
import type { Problem } from '@app/jobs';
import { TEST_EVENT } from '@app/webhooks';
import { Calls, hmacOf, succeeded } from '../calls/calls.js';
import type { Response } from '../calls/hook-request.js';
import type { Answer, Courier, Outcome } from '../outbox/courier.js';
import { type Claimed, OutboxStore, type WebhookCall } from '../outbox/outbox.store.js';

/** The minutes after each failed try, as Standard Webhooks suggests: 5 s, 5 min, 30 min, then hours, 75 in all. */
export const PAUSES_MINUTES = [5 / 60, 5, 30, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 60)];

/** The longest that a receiver can ask us to wait (ms). */
const LONGEST_WAIT_MS = 3_600_000;

/** How often to look for new events while there is work (ms): whoever waits for one shall have it at once. */
const REFILL_MS = 250;

/** Different faults of a connection would tell what is there in a network that the operator has admitted. */
const TOLD: readonly Problem[] = ['timeout', 'address_not_public'];

/** Sends events to the webhook endpoints of organizations, as Standard Webhooks has it. */
@Injectable()
export class WebhookCourier implements Courier {
  readonly topic = 'webhook';
  readonly pauses = PAUSES_MINUTES;
  private refilledAt = -REFILL_MS;

  constructor(
    private readonly store: OutboxStore,
    private readonly calls: Calls,
  ) {}

  async refill(idle: boolean): Promise<boolean> {
    if (!idle && performance.now() - this.refilledAt < REFILL_MS) return false;
    this.refilledAt = performance.now();
    return this.store.fillWebhooks();
  }

  async deliver(message: Claimed, signal: AbortSignal): Promise<Outcome> {
    const began = performance.now();
    const ended = (response?: Response): Answer => ({
      status: response?.status ?? null,
      durationMs: Math.round(performance.now() - began),
      text: response?.text ?? null,
    });
    const call = await this.store.webhookCall(message);
    if (!call) return { status: 'lost' };
    const body = bodyOf(message, call);
    if (body === null) return { status: 'dead', problem: 'event_expired', answer: ended() };
    let headers: Record<string, string>;
    try {
      headers = this.headersOf(call.event?.id ?? message.id, call, body);
    } catch {
      return { status: 'failed', problem: 'secret_unreadable', answer: ended() };
    }
    const response = await this.calls.post({ hook: call, headers, body, signal });
    if (typeof response === 'string') {
      const problem = TOLD.includes(response) ? response : 'connection_failed';
      return { status: 'failed', problem, answer: ended() };
    }
    const answer = ended(response);
    if (succeeded(response)) return { status: 'sent', answer };
    const problem: Problem = `http_${response.status}`;
    // Gone: the database disables the endpoint.
    if (response.status === 410) return { status: 'dead', problem, answer };
    return { status: 'failed', problem, answer, notBeforeMs: waitOf(response) };
  }

  /** The same id over all tries, and a fresh time: verifiers refuse one that is minutes old. @throws Error when a secret cannot be decrypted */
  private headersOf(id: string, call: WebhookCall, body: string): Record<string, string> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signatures = this.calls.signatures(call, 'webhook secrets', (secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      return `v1,${hmacOf(key, `${id}.${timestamp}.${body}`).digest('base64')}`;
    });
    return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
  }
}

/** The event, as the feed shows it; null if it is no longer kept. */
function bodyOf({ id, kind, recipient, createdAt }: Claimed, { event }: WebhookCall): string | null {
  if (event) return eventJson(event);
  if (kind !== TEST_EVENT) return null;
  return eventJson({
    id,
    type: kind,
    timestamp: createdAt,
    resource: 'webhook_endpoint',
    resource_id: recipient,
    data: {},
  });
}

/** What `Retry-After` asks for, in seconds or as a date (ms). */
export function waitOf({ status, retryAfter }: Pick<Response, 'status' | 'retryAfter'>, now = Date.now()): number {
  if (![429, 503].includes(status) || retryAfter === null) return 0;
  const wait = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Math.min(Math.max(wait || 0, 0), LONGEST_WAIT_MS);
}
