import type { Attended } from '@app/billing';
import { type DateBound, VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import { Fault, field, inputOf, type Interdependent, kinds, TOGETHER } from '../../../http/kit.js';

/** Why a session does not take place. */
export class CancelSession {
  @field.bodyField(FIELDS.sessions.cancellation_reason, {
    nullable: true,
    description: 'For the organization’s own records.',
  })
  reason?: string | null;

  @field.Integer(0, 100, {
    nullable: true,
    description:
      'How much of what completing it would have billed is charged for cancelling so late; 0 if left out. Again, it must be ' +
      'what was charged.',
  })
  charge_percent?: number | null;
}

/** Who came. */
class AttendedBy {
  @field.Uuid({ required: true })
  student_id: string;

  @field.OneOf(VALUES.lesson_participants.attendance, { required: true })
  attendance: Attended['attendance'];
}

/** Who came to a session that has taken place. */
export class CompleteSession implements Interdependent {
  @field.Objects(AttendedBy, { max: 500 }, { default: [], description: 'Who is not named attended.' })
  participants: AttendedBy[] = [];

  [TOGETHER](): Fault[] {
    if (!Array.isArray(this.participants)) return [];
    const ids = this.participants.map((one) => one.student_id);
    return ids.flatMap((id, index) => {
      const again = typeof id === 'string' && ids.indexOf(id) < index;
      return again
        ? [new Fault('value_error', 'This student is listed twice.', ['participants', index, 'student_id'])]
        : [];
    });
  }
}

export const attendedBy = ({ participants }: CompleteSession): Attended[] => participants.map((one) => inputOf(one));

/** Which sessions ahead are settled anew. */
export class SettlePrices {
  @field.bodyField(kinds.dateBound, {
    required: true,
    description: 'The sessions ahead that start at or after this; a day is one of the organization’s time zone.',
  })
  from: DateBound;

  @field.Uuid({ nullable: true, description: 'Only those in which this student takes part (user id).' })
  student_id?: string | null;

  @field.Uuid({ nullable: true, description: 'Only those of this tutor (user id).' })
  tutor_id?: string | null;

  @field.Flag({ default: false, description: 'Only say what would change.' })
  dry_run = false;
}
