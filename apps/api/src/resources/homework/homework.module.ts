import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { listController } from '../../http/openapi/list-controller.js';
import { HOMEWORK } from './homework.queries.js';

@Module({ imports: [HttpModule], controllers: [listController(HOMEWORK)] })
export class HomeworkModule {}
