import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule, listController } from '../../../http/kit.js';
import { TutorsController } from './tutors.controller.js';
import { STAFF } from './tutors.queries.js';
import { Offboard } from '../offboard.js';
import { TutorsService } from './tutors.service.js';

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(STAFF), TutorsController],
  providers: [Offboard, TutorsService],
})
export class TutorsModule {}
