import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { RequestLogController } from './request-log.controller.js';
import { RequestLogService } from './request-log.service.js';

@Module({ imports: [HttpModule], controllers: [RequestLogController], providers: [RequestLogService] })
export class RequestLogModule {}
