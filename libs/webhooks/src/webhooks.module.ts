import { Module } from '@nestjs/common';
import { Addresses } from './addresses.js';
import { WebhookLog } from './webhook-log.js';
import { Webhooks } from './webhooks.js';

@Module({ providers: [Addresses, WebhookLog, Webhooks], exports: [Addresses, WebhookLog, Webhooks] })
export class WebhooksModule {}
