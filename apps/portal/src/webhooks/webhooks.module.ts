import { Module } from '@nestjs/common';
import { WebhooksModule as RulesModule } from '@app/webhooks';
import { DeliveriesController } from './deliveries.controller.js';
import { EndpointsController } from './endpoints.controller.js';

// The paths of deliveries come first: they would name an endpoint, too.
@Module({ imports: [RulesModule], controllers: [DeliveriesController, EndpointsController] })
export class WebhooksModule {}
