/** A message at the top of the next page, such as the result of an action. Never a secret. */
export interface Flash {
  kind: 'success' | 'notice' | 'problem';
  text: string;
}
