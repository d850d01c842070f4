import { inWords } from '@app/jobs';
import { type DeliveryStatus, type ListedDelivery, type ListedEndpoint, MOST_WAITING } from '@app/webhooks';

/** What pages call the states of a delivery. */
export const WORDS: Record<DeliveryStatus, string> = {
  queued: 'Queued',
  held: 'Waiting',
  sent: 'Delivered',
  failed: 'Failed, will be retried',
  dead: 'Given up',
};

/** What an endpoint is called. */
export const nameOf = ({ description, url }: Pick<ListedEndpoint, 'description' | 'url'>): string =>
  description ?? new URL(url).host;

/** An endpoint as its pages show it. */
export const shownEndpoint = (endpoint: ListedEndpoint) => ({
  ...endpoint,
  name: nameOf(endpoint),
  events: eventsOf(endpoint.eventTypes),
  countedUp: endpoint.waiting === MOST_WAITING,
});

/** A delivery as pages show it. */
export const shownDelivery = (delivery: ListedDelivery) => ({
  ...delivery,
  host: delivery.url === null ? 'a deleted endpoint' : new URL(delivery.url).host,
  label: WORDS[delivery.status],
  reason: delivery.problem && inWords(delivery.problem),
  // What an earlier try was answered says nothing of one that has not begun.
  ...(delivery.status === 'queued' && { reason: null, responseStatus: null, durationMs: null, answer: null }),
});

function eventsOf({ length }: string[]): string {
  if (length === 0) return 'All events';
  return length === 1 ? '1 kind of event' : `${length} kinds of events`;
}
