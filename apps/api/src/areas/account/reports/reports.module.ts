import { Module } from '@nestjs/common';
import { HttpModule } from '../../../http/kit.js';
import { ReportsController } from './reports.controller.js';
import { ReportsService } from './reports.service.js';

@Module({ imports: [HttpModule], controllers: [ReportsController], providers: [ReportsService] })
export class ReportsModule {}
