import { Module } from '@nestjs/common';
import { OutboxModule } from '../outbox/outbox.module.js';
import { RebuildCourier } from './rebuild.courier.js';
import { RebuildsProcessor } from './rebuilds.processor.js';
import { RebuildsService } from './rebuilds.service.js';

@Module({ imports: [OutboxModule], providers: [RebuildsProcessor, RebuildsService, RebuildCourier] })
export class RebuildsModule {}
