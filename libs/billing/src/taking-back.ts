import { Refused } from '@app/rules';

/** What was taken back before stays so. @returns false @throws Refused if it was for another reason */
export function takenBackAs(reason: string, before: string | null, state: string, allowed: string[]): false {
  if (reason === before) return false;
  throw Refused.invalidState(state, allowed, 'It was taken back before, for another reason.');
}
