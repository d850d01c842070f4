import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { listController } from '../../http/openapi/list-controller.js';
import { PAYMENTS } from './payments.queries.js';

@Module({ imports: [HttpModule], controllers: [listController(PAYMENTS)] })
export class PaymentsModule {}
