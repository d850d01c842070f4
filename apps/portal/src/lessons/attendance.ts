import type { Attended } from '@app/billing';
import { VALUES } from '@app/database';
import type { Read } from '../web/answered.js';
import type { Form } from '../web/form.js';

/** The field that says whether a student came. */
export const fieldOf = (studentId: string) => `attendance-${studentId}`;

/** Who came, of everybody who takes part. */
export function readAttendance(form: Form, participants: { student_id: string }[]): Read<Attended[]> {
  const chosen = participants.map(({ student_id: studentId }) => ({
    studentId,
    attendance: VALUES.lesson_participants.attendance.find((one) => one === form.text(fieldOf(studentId))),
  }));
  const missing = chosen.filter(({ attendance }) => attendance === undefined);
  if (missing.length === 0) return { value: chosen as Attended[] };
  return {
    errors: Object.fromEntries(
      missing.map(({ studentId }) => [fieldOf(studentId), 'Choose whether the student came.']),
    ),
  };
}
