import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { PaymentsController } from './payments.controller.js';

@Module({ imports: [HttpModule], controllers: [PaymentsController] })
export class PaymentsModule {}
