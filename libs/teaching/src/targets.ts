import type { Tables } from '@app/database';
import { Refused, type Refusal } from '@app/rules';

/** Whom coursework is for: exactly the classroom, group or student that its scope says. */
export interface Target {
  scope: Tables['lesson_plans' | 'homework']['scope'];
  classroomId: string | null;
  groupId: string | null;
  studentId: string | null;
}

/** Why these ids are not exactly the target of the scope: missing or superfluous ones. */
export function targetFaults({ scope, classroomId, groupId, studentId }: Target): Refusal[] {
  const ids = { classroom: classroomId, group: groupId, student: studentId };
  return Object.entries(ids).flatMap(([kind, id]) => {
    if ((kind === scope) === (id !== null)) return [];
    const reason = id === null ? `Required with the scope "${scope}".` : `Not possible with the scope "${scope}".`;
    return [{ at: [`${kind}_id`], reason }];
  });
}

/** @throws Refused at each id that does not fit the scope */
export function requireTarget(target: Target): void {
  const faults = targetFaults(target);
  if (faults.length > 0) throw Refused.invalidAt(faults);
}
