import { Injectable } from '@nestjs/common';
import { type Departure, type Ended, Offboarding } from '@app/accounts';
import {
  Audit, BOOLEAN, type Caller, Fault, field, type Interdependent, objectOf, orNull, type Shape,
  textLike, TOGETHER,
} from '../../http/kit.js'; // prettier-ignore

const COUNT = { type: 'integer', minimum: 0 };

/** What a removal did; zeros if it had happened before. */
export const offboardShape: Shape = {
  name: 'OffboardResult',
  schema: objectOf({
    success: BOOLEAN,
    scope: orNull(textLike('organization')),
    archived_relationships: orNull({ ...COUNT, examples: [2] }),
    classrooms_removed: orNull({ ...COUNT, examples: [1] }),
    coverage_revoked: orNull({ ...COUNT, examples: [0] }),
    reason: { ...orNull(textLike()), examples: [null], description: 'Only where `success` is false.' },
  }),
};

const CHOICES = ['unassign', 'hand_over', 'cancel'] as const;

/** What becomes of a tutor's sessions ahead. */
export class OffboardTutor implements Interdependent {
  @field.OneOf(CHOICES, {
    default: 'unassign',
    description:
      'What becomes of the sessions ahead. `unassign`: they are `pending`, without a tutor. `hand_over`: another tutor ' +
      'takes them, and classrooms and groups too; those that overlap the other tutor’s are unassigned. `cancel`: they ' +
      'are cancelled.',
  })
  sessions?: (typeof CHOICES)[number];

  @field.Uuid({ nullable: true, description: 'With `hand_over`, required: the other tutor.' })
  hand_over_to?: string | null;

  [TOGETHER](): Fault[] {
    const given = (this.hand_over_to ?? null) !== null;
    if (given === (this.sessions === 'hand_over')) return [];
    return [
      given
        ? new Fault('extra_forbidden', 'Leave this out: it is only for sessions "hand_over".', ['hand_over_to'])
        : new Fault('missing', 'Required with sessions "hand_over".', ['hand_over_to']),
    ];
  }

  get ahead(): NonNullable<Departure['sessions']> {
    return this.sessions === 'hand_over'
      ? { do: 'hand_over', to: this.hand_over_to! }
      : { do: this.sessions ?? 'unassign' };
  }
}

/** Ends memberships for the API's callers. */
@Injectable()
export class Offboard {
  constructor(
    private readonly offboarding: Offboarding,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for nobody of this kind in the organization, and for owners and admins */
  async end({ organizationId, keyId }: Caller, departure: Departure) {
    const ended = await this.offboarding.end(organizationId, { userId: null, apiKeyId: keyId }, departure);
    this.audit.note({ user_id: departure.userId, ...ended }, ended.changed);
    return resultOf(ended);
  }

  /** @throws Refused when there is no such link */
  async unlinkChild({ organizationId }: Caller, parentId: string, studentId: string): Promise<void> {
    await this.offboarding.unlinkChild(organizationId, parentId, studentId);
    this.audit.note({ parent_id: parentId, student_id: studentId });
  }
}

function resultOf({ relations, classrooms }: Ended) {
  return {
    success: true,
    scope: 'organization',
    archived_relationships: relations,
    classrooms_removed: classrooms,
    // Nothing of the organization's covers a person.
    coverage_revoked: 0,
    reason: null,
  };
}
