import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { TUTOR_WRITES } from './tutors.controller.js';
import { STAFF } from './tutors.queries.js';

const TUTOR = recordController({
  ...STAFF,
  id: 'get_tutor',
  path: 'v1/tutors/:tutor_id',
  summary: 'Returns one tutor, admin or owner',
});

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(STAFF), TUTOR, ...TUTOR_WRITES],
})
export class TutorsModule {}
