import type { Env } from '@app/config';
import { isFault, type Kind } from '@app/fields';
import { type Refusal, Refused } from '@app/rules';
import type { Form } from './form.js';

type Kinds = Record<string, Kind>;
type Values<Of extends Kinds> = { [Name in keyof Of]: Of[Name] extends Kind<infer T> ? T : never };

/** A field as the API would read it. @throws Refused for what it would refuse, at the field */
export const readField = <T>(form: Form, env: Env, name: string, kind: Kind<T>): T =>
  readFields(form, env, { [name]: kind }, {})[name] as T;

/** Several fields. @param optional null if they are left empty @throws Refused for all that the API would refuse */
export function readFields<Needed extends Kinds, Optional extends Kinds>(
  form: Form,
  env: Env,
  needed: Needed,
  optional: Optional,
): Values<Needed> & { [Name in keyof Optional]: Values<Optional>[Name] | null } {
  const refusals: Refusal[] = [];
  const read = Object.entries({ ...needed, ...optional }).map(([name, { parse, parseText = parse }]) => {
    const text = form.text(name);
    const value = text === '' && !(name in needed) ? null : parseText(text, env);
    if (isFault(value)) refusals.push({ at: [name], reason: ('list' in value ? value.list[0]! : value).msg });
    return [name, value];
  });
  if (refusals.length > 0) throw Refused.invalidAt(refusals);
  return Object.fromEntries(read) as never;
}
