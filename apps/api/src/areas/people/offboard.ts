import { type Departure, Offboarding } from '@app/access';
import { Logins, Restoring } from '@app/people';
import {
  BOOLEAN, type Caller, Fault, field, type Interdependent, objectOf, one, orNull, type Shape,
  textLike, TOGETHER,
} from '../../http/kit.js'; // prettier-ignore

const COUNT = { type: 'integer', minimum: 0 };

/** What a removal did; zeros if it had happened before. */
const offboardShape: Shape = {
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

  /** Undefined if nothing is said. */
  get ahead(): Departure['sessions'] {
    if (!this.sessions) return undefined;
    return this.sessions === 'hand_over' ? { do: 'hand_over', to: this.hand_over_to! } : { do: this.sessions };
  }
}

/** Ends a membership. @throws Refused for nobody of this kind in the organization, and for owners and admins */
export async function ended(offboarding: Offboarding, { organizationId, keyId }: Caller, departure: Departure) {
  const done = await offboarding.end(organizationId, { userId: null, apiKeyId: keyId }, departure);
  const answer = {
    success: true,
    scope: 'organization',
    archived_relationships: done.relations,
    classrooms_removed: done.classrooms,
    // Nothing of the organization's covers a person.
    coverage_revoked: 0,
    reason: null,
  };
  return { changed: done.changed, audit: { ...done }, answer };
}

/** What the removals of all kinds of people have in common. */
export const OFFBOARDED = {
  status: 200,
  scope: 'accounts:write' as const,
  rules: [Offboarding] as [typeof Offboarding],
  answers: one(offboardShape),
  idName: 'user_id',
};

/** What taking people of all kinds back has in common. */
export const RESTORED = {
  status: 200,
  scope: 'accounts:write' as const,
  rules: [Restoring, Logins] as [typeof Restoring, typeof Logins],
};

export const RESTORES =
  'Works like adding them again: they are `pending` until they accept if they have used their login, and shown as they were ' +
  'until then. Links to children, places, relations and codes do not come back.';

export async function restored(restoring: Restoring, caller: Caller, id: string, as: 'student' | 'staff' | 'parent') {
  const { changed, invited } = await restoring.restore(caller, id, as);
  return { changed, audit: { invited } };
}
