import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { PARENT_WRITES } from './parents.controller.js';
import { BALANCE, PARENT, PARENTS } from './parents.queries.js';

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(PARENTS), recordController(PARENT), recordController(BALANCE), ...PARENT_WRITES],
})
export class ParentsModule {}
