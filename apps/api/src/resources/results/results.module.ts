import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { ResultsController } from './results.controller.js';
import { ResultsService } from './results.service.js';

@Module({ imports: [HttpModule], controllers: [ResultsController], providers: [ResultsService] })
export class ResultsModule {}
