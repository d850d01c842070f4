import { type Refusal, Refused } from '@app/rules';
import { SENT_BEFORE } from './operations.js';
import { inPages } from './refusals.js';
import { type Page, seeOther, type SeeOther } from './pages.js';

/** What is wrong with the fields of a form, by their ids in the page; `form` for what concerns no single one. */
export type Errors = Record<string, string>;

/** What somebody typed, or what is wrong with it. */
export type Read<T> = { value: T } | { errors: Errors };

type FieldOf = (refusal: Refusal) => string;

/** For forms whose fields are named like what the rules refuse. */
export const namesake: FieldOf = ({ at }) => at.join('.') || 'form';

/** What a rule found wrong with a form. @throws the error itself, unless it is that */
export function errorsOf(error: unknown, field: FieldOf = namesake): Errors {
  if (!(error instanceof Refused) || error.why.kind !== 'invalid') throw error;
  return Object.fromEntries(error.why.refusals.map((refusal) => [field(refusal), inPages(refusal.reason)]));
}

/**
 * The answer to a form.
 *
 * @param work null if the form had been sent before
 * @param to `back`: its page; `made`: the page after it, if that is another one
 * @param again its page, with what is wrong
 * @param field where the page shows what is refused
 */
export async function answered<T>(
  work: Promise<T | null>,
  { back, done, made }: { back: string; done: string; made?: (result: T) => string },
  again: (errors: Errors) => Promise<Page>,
  field: FieldOf = () => 'form',
): Promise<Page | SeeOther> {
  try {
    const result = await work;
    return result === null ? seeOther(back, 'notice', SENT_BEFORE) : seeOther(made?.(result) ?? back, 'success', done);
  } catch (error) {
    const conflict = error instanceof Refused && error.why.kind !== 'not_found' && error.why.kind !== 'invalid';
    return conflict ? seeOther(back, 'notice', inPages(error.message)) : again(errorsOf(error, field));
  }
}
