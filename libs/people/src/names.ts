import { isBlank } from '@app/database';

/** Whether this may be a first or last name, after trimming. */
export function isName(text: string): boolean {
  return !isBlank(text) && Array.from(text).length <= 200;
}
