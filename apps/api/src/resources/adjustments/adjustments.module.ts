import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { listController } from '../../http/openapi/list-controller.js';
import { ADJUSTMENTS } from './adjustments.queries.js';

@Module({ imports: [HttpModule], controllers: [listController(ADJUSTMENTS)] })
export class AdjustmentsModule {}
