import { Module } from '@nestjs/common';
import { BillingModule } from '@app/billing';
import { LessonsController } from './lessons.controller.js';
import { LessonsService } from './lessons.service.js';

/** Lessons: completing sessions that have begun, and what they cost and pay. */
@Module({ imports: [BillingModule], controllers: [LessonsController], providers: [LessonsService] })
export class LessonsModule {}
