import { Fault, type Faults, fromObject, type Kind, type RawObject } from '@app/fields';
import { oneOfBy, schemaOf } from './body-schema.js';
import { readObject } from './read-object.js';

/** An object of a request class. Rejects names that the class does not declare. */
export function object<T extends object>(shape: new () => T): Kind<T> {
  return {
    schema: schemaOf(shape),
    parse: fromObject((raw, env) => {
      const { value, faults } = readObject(shape, raw, env);
      return faults.count > 0 ? faults : (value as T);
    }),
  };
}

/** Replaces an invalid object, so that its faults do not fail the request; null keeps them. */
export type Tolerate<T> = (faults: Faults, raw: RawObject) => T | null;

/** One of several classes, distinguished by a field whose values are their names. */
export function union<T extends object>(
  tag: string,
  shapes: Record<string, new () => T>,
  tolerate: Tolerate<T> = () => null,
): Kind<T> {
  const names = Object.keys(shapes).join(', ');
  return {
    schema: oneOfBy(tag, Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, schemaOf(shape)]))),
    parse: fromObject((raw, env) => {
      if (!Object.hasOwn(raw, tag))
        return new Fault('union_tag_not_found', `"${tag}" is required and must be one of: ${names}.`);
      const name = raw[tag];
      const shape = typeof name === 'string' && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
      if (!shape) return new Fault('union_tag_invalid', `"${tag}" must be one of: ${names}.`);
      const { value, faults } = readObject(shape, raw, env);
      return faults.count === 0 ? (value as T) : (tolerate(faults, raw) ?? faults);
    }),
  };
}
