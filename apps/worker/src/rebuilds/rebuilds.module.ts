import { Module } from '@nestjs/common';
import { OutboxModule } from '../outbox/outbox.module.js';
import { RebuildCourier } from './rebuild.courier.js';
import { RebuildsService } from './rebuilds.service.js';

@Module({ imports: [OutboxModule], providers: [RebuildsService, RebuildCourier] })
export class RebuildsModule {}
