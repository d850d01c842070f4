import { Refused } from '@app/rules';
import type { Flash } from './flash.js';
import { PageError } from './page-error.js';

/** What a rule says, in the words of pages: rules have those of the API. */
export const inPages = (text: string): string =>
  text
    .replaceAll(/\b(s)ession(?=s?\b)/gi, (_, initial: string) => (initial === 'S' ? 'Lesson' : 'lesson'))
    .replaceAll(/\bcancelled\b/g, 'canceled');

/** What a rule refused, as a page of its own. */
export function pageOf({ why, message }: Refused): PageError {
  if (why.kind === 'not_found') return PageError.notFound();
  return new PageError(why.kind === 'invalid' ? 422 : 409, 'This is not possible', inPages(message));
}

/** What a rule refused, as a message on the page that the form was on. @throws Refused for a record that does not exist: a 404 */
export async function unlessRefused<T>(work: Promise<T>, shown: (flash: Flash) => T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Refused) || error.why.kind === 'not_found') throw error;
    return shown({ kind: error.why.kind === 'invalid' ? 'problem' : 'notice', text: inPages(error.message) });
  }
}
