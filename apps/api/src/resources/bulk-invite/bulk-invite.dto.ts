import { ListOf, OneOf } from '../../http/validation/fields.js';
import { ParentFields, StudentFields, TutorFields } from '../../http/validation/people.js';

const MOST_ROWS = 100;

export class StudentRow extends StudentFields {
  @OneOf(['student'], { required: true })
  type: 'student';
}

export class TutorRow extends TutorFields {
  @OneOf(['tutor'], { required: true })
  type: 'tutor';
}

export class ParentRow extends ParentFields {
  @OneOf(['parent'], { required: true })
  type: 'parent';
}

export type Row = StudentRow | TutorRow | ParentRow;

export class BulkInvite {
  @ListOf(
    'type',
    { student: StudentRow, tutor: TutorRow, parent: ParentRow },
    { min: 1, max: MOST_ROWS },
    {
      required: true,
      description: 'Told apart by `type`. Each row is provisioned by itself.',
    },
  )
  users: Row[];
}
