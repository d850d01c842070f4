export { Addresses, hookUrl, hostOf, isPublic } from './addresses.js';
export {
  type MadeWebhookEndpoint,
  MOST_ENDPOINTS,
  type NewWebhookEndpoint,
  TEST_EVENT,
  type WebhookEndpointChange,
  Webhooks,
} from './webhooks.js';
export { WebhooksModule } from './webhooks.module.js';
export {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  HEALTH,
  type ListedDelivery,
  type ListedEndpoint,
  MOST_WAITING,
  WebhookLog,
} from './webhook-log.js';
