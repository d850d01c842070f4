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
