import { Module } from '@nestjs/common';
import { Addresses } from './addresses.js';
import { Webhooks } from './webhooks.js';

@Module({ providers: [Addresses, Webhooks], exports: [Addresses, Webhooks] })
export class WebhooksModule {}
