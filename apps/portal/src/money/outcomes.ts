import { Refused } from '@app/rules';

/**
 * What became of one of several for which a form does the same.
 *
 * @param exists whether there is such a record: if there is, it is the person who is refused
 * @returns false if the form had been sent before; why not, if the rule refuses it
 * @throws Refused for a person who does not manage the organization any more
 */
export async function outcomeOf(work: Promise<unknown>, exists: () => Promise<boolean>): Promise<string | boolean> {
  try {
    return (await work) !== null;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.why.kind !== 'not_found') return error.message;
    if (await exists()) throw error;
    return 'It is not here any more.';
  }
}
