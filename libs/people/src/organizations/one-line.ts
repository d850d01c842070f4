import { isBlank } from '@app/database';

/** The trimmed text, for names on one line; null if nothing in it is visible, or if it is too long or cannot be stored. */
export function oneLine(text: string, longest: number): string | null {
  const line = text.trim();
  const fits = Array.from(line).length <= longest && line.isWellFormed() && !/\p{Cc}/u.test(line);
  return fits && !isBlank(line) ? line : null;
}
