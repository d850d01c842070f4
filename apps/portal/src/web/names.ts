import { isName } from '@app/people';

/** What is wrong with each name in a form. */
export function problemsOfNames(first: string, last: string): { first_name?: string; last_name?: string } {
  return {
    ...(!isName(first) && { first_name: 'Enter your first name, up to 200 characters.' }),
    ...(!isName(last) && { last_name: 'Enter your last name, up to 200 characters.' }),
  };
}
