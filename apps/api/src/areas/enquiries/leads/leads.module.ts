import { Module } from '@nestjs/common';
import { EnquiriesModule } from '@app/enquiries';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { LEAD_WRITES } from './leads.controller.js';
import { LEAD, LEADS } from './leads.queries.js';

@Module({
  imports: [EnquiriesModule, HttpModule],
  controllers: [listController(LEADS), recordController(LEAD), ...LEAD_WRITES],
})
export class LeadsModule {}
