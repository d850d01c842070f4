import { Module } from '@nestjs/common';
import { EnquiriesModule } from '@app/enquiries';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { LeadsController } from './leads.controller.js';
import { LEAD, LEADS } from './leads.queries.js';
import { LeadsService } from './leads.service.js';

@Module({
  imports: [EnquiriesModule, HttpModule],
  controllers: [listController(LEADS), recordController(LEAD), LeadsController],
  providers: [LeadsService],
})
export class LeadsModule {}
