import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { AdjustmentsController } from './adjustments.controller.js';
import { AdjustmentsService } from './adjustments.service.js';

@Module({ imports: [HttpModule], controllers: [AdjustmentsController], providers: [AdjustmentsService] })
export class AdjustmentsModule {}
