import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule, listController } from '../../../http/kit.js';
import { ParentsController } from './parents.controller.js';
import { PARENTS } from './parents.queries.js';
import { ParentsService } from './parents.service.js';

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(PARENTS), ParentsController],
  providers: [ParentsService],
})
export class ParentsModule {}
