import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { ParentsController } from './parents.controller.js';
import { BALANCE, PARENT, PARENTS } from './parents.queries.js';
import { Offboard } from '../offboard.js';
import { ParentsService } from './parents.service.js';

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(PARENTS), recordController(PARENT), recordController(BALANCE), ParentsController],
  providers: [Offboard, ParentsService],
})
export class ParentsModule {}
