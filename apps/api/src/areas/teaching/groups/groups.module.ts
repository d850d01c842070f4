import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { GROUP_WRITES } from './groups.controller.js';
import { GROUPS } from './groups.queries.js';

const GROUP = recordController({
  ...GROUPS,
  id: 'get_student_group',
  path: 'v1/student-groups/:group_id',
  summary: 'Returns one student group with its members',
});

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(GROUPS), GROUP, ...GROUP_WRITES],
})
export class GroupsModule {}
