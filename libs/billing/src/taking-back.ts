import { Refused } from '@app/rules';

/** What was taken back before stays so. @returns false @throws Refused if it was for another reason */
export function takenBackAs(reason: string, before: string | null, state: string, allowed: string[]): false {
  if (reason === before) return false;
  throw Refused.invalidState(state, allowed, 'It was taken back before, for another reason.');
}

/** What the audit row of a void invoice says of what was paid: how much became credit, and whose if one person paid. */
export function creditOf({ studentIds, parentIds }: { studentIds: string[]; parentIds: string[] }, cents: number) {
  const alone = studentIds.length + parentIds.length === 1;
  if (cents === 0) return {};
  return {
    credited_cents: cents,
    ...(alone && (parentIds[0] ? { parent_id: parentIds[0] } : { student_id: studentIds[0]! })),
  };
}
