import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsService } from './payments.service.js';

@Module({ imports: [HttpModule], controllers: [PaymentsController], providers: [PaymentsService] })
export class PaymentsModule {}
