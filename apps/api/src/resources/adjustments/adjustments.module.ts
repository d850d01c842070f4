import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { AdjustmentsController } from './adjustments.controller.js';

@Module({ imports: [HttpModule], controllers: [AdjustmentsController] })
export class AdjustmentsModule {}
