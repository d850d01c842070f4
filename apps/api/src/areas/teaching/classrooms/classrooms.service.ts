import { Injectable } from '@nestjs/common';
import { Places } from '@app/people';
import { Audit, type Caller } from '../../../http/kit.js';

@Injectable()
export class ClassroomsService {
  constructor(
    private readonly places: Places,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for an unknown classroom or person, and for a member with another role */
  async addMember(
    caller: Caller,
    classroomId: string,
    userId: string,
    seat: 'teacher' | 'student',
  ): Promise<{ member_id: string }> {
    const memberId = await this.places.give(
      caller.organizationId,
      { kind: 'classroom', id: classroomId },
      userId,
      seat,
    );
    this.audit.note({ classroom_id: classroomId, user_id: userId, member_id: memberId });
    return { member_id: memberId };
  }
}
