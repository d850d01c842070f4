import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { RequestLogController } from './request-log.controller.js';

@Module({ imports: [HttpModule], controllers: [RequestLogController] })
export class RequestLogModule {}
