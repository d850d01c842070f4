import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { listController } from '../../http/openapi/list-controller.js';
import { REQUEST_LOG } from './request-log.queries.js';

@Module({ imports: [HttpModule], controllers: [listController(REQUEST_LOG)] })
export class RequestLogModule {}
