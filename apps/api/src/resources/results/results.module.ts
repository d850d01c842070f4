import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { ResultsController } from './results.controller.js';

@Module({ imports: [HttpModule], controllers: [ResultsController] })
export class ResultsModule {}
