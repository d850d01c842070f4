import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, PathId, Post, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { memberAddView, RoomMembers } from '../room-members.js';
import { AddClassroomMember, CreateClassroom } from './classrooms.dto.js';
import { CLASSROOMS } from './classrooms.queries.js';
import { ClassroomsService } from './classrooms.service.js';

const EXAMPLE = { user_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' };

@Controller('v1/classrooms')
export class ClassroomsController {
  constructor(
    private readonly classrooms: ClassroomsService,
    private readonly members: RoomMembers,
  ) {}

  @Post()
  @RequireScopes('tutors:write')
  @Documented({
    id: 'create_classroom',
    summary: 'Creates a classroom',
    description:
      'The tutor becomes its teacher. Students join by its `join_code`, or are added. A tutor of another organization, ' +
      'or one who has not accepted, is a 404; a student is a 422.',
    answer: one(CLASSROOMS.view),
    example: { name: 'Year 12 Methods', price_cents: 12000, billing_interval: 'month' },
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateClassroom) body: CreateClassroom) {
    return this.classrooms.create(caller, body);
  }

  @Post(':classroom_id/tutors', 200)
  @RequireScopes('tutors:write')
  @Documented({
    id: 'add_classroom_tutor',
    summary: 'Adds an accepted tutor or admin as a teacher of the classroom',
    description:
      'Adding somebody again returns the same `member_id`. A member with another role in the organization is a ' +
      '422; a person who is not an accepted member is a 404. A student of the classroom becomes its teacher, ' +
      'with the same `member_id`.',
    answer: one(memberAddView),
    example: EXAMPLE,
  })
  addTutor(
    @CurrentCaller() caller: Caller,
    @PathId('classroom_id') id: string,
    @ValidBody(AddClassroomMember) body: AddClassroomMember,
  ) {
    return this.members.add(caller, { kind: 'classroom', id }, body.user_id, 'teacher');
  }

  @Post(':classroom_id/students', 200)
  @RequireScopes('tutors:write')
  @Documented({
    id: 'add_classroom_student',
    summary: 'Adds an accepted student to the classroom',
    description:
      'Adding somebody again returns the same `member_id`. A member with another role in the organization is a ' +
      '422; a person who is not an accepted member is a 404.',
    answer: one(memberAddView),
    example: EXAMPLE,
  })
  addStudent(
    @CurrentCaller() caller: Caller,
    @PathId('classroom_id') id: string,
    @ValidBody(AddClassroomMember) body: AddClassroomMember,
  ) {
    return this.members.add(caller, { kind: 'classroom', id }, body.user_id, 'student');
  }
}
