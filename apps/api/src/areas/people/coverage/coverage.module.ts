import { Module } from '@nestjs/common';
import { EnquiriesModule } from '@app/enquiries';
import { HttpModule, listController } from '../../../http/kit.js';
import { CoverageController } from './coverage.controller.js';
import { COVERAGE } from './coverage.queries.js';
import { CoverageGuard } from './coverage.guard.js';
import { CoverageService } from './coverage.service.js';

@Module({
  imports: [EnquiriesModule, HttpModule],
  controllers: [listController(COVERAGE), CoverageController],
  providers: [CoverageGuard, CoverageService],
})
export class CoverageModule {}
