import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { listController } from '../../http/openapi/list-controller.js';
import { RESULTS } from './results.queries.js';

@Module({ imports: [HttpModule], controllers: [listController(RESULTS)] })
export class ResultsModule {}
