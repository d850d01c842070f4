import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../http/http.module.js';
import { listController } from '../../http/openapi/list-controller.js';
import { ParentsController } from './parents.controller.js';
import { PARENTS } from './parents.queries.js';
import { ParentsService } from './parents.service.js';

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(PARENTS), ParentsController],
  providers: [ParentsService],
})
export class ParentsModule {}
