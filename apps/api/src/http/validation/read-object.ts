import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, ValidationTypes } from 'class-validator';
import type { Env } from '@app/config';
import { Fault, Faults, isFault } from '@app/fields';

/** The name of our check in class-validator. */
export const FIELD_CHECK = 'field';

/** Options passed through class-transformer besides its own. The fields' transformations take their values from `raw`. */
export interface ReadOptions {
  env: Env;
  raw: Record<string, unknown>;
}

/** The method in which a request class checks fields that depend on each other. */
export const TOGETHER = Symbol('checks the fields together');

export interface Interdependent {
  /** A field that cannot be read holds its Fault. @param zone the organization's, for days */
  [TOGETHER](zone: string): Fault[];
}

/**
 * Reads a raw object into a request class: returns the instance and its faults, in the caller's order. class-transformer
 * sees the declared names alone, without values: its time is quadratic in the number of names, and in nested values it
 * would drop some names (__proto__, methods of Object) and call a `constructor` as a class.
 */
export function readObject(
  shape: new () => object,
  raw: object,
  env: Env,
  zone = 'UTC',
  what: 'field' | 'parameter' = 'field',
): { value: object; faults: Faults } {
  const { names } = fieldsOf(shape);
  const options: ReadOptions = { env, raw: raw as Record<string, unknown> };
  const sent = Object.fromEntries([...names].filter((name) => Object.hasOwn(raw, name)).map((name) => [name, null]));
  const value = plainToInstance(shape, sent, options as object);
  const found = faultsByField(shape, value, zone);
  const faults = new Faults();
  for (const name of Object.keys(raw)) {
    if (!names.has(name)) faults.add(Fault.unknown(name, names, what));
    const own = found.get(name);
    if (own) faults.add(own);
  }
  // Missing fields come last.
  for (const [name, own] of found) if (!Object.hasOwn(raw, name)) faults.add(own);
  return { value, faults };
}

/** The fields of a request class, as class-validator knows them. */
interface Fields {
  names: ReadonlySet<string>;
  required: string[];
  /** Whether there are checks other than ours. */
  foreign: boolean;
}

const fieldsOfShapes = new WeakMap<object, Fields>();

function fieldsOf(shape: new () => object): Fields {
  let fields = fieldsOfShapes.get(shape);
  if (fields === undefined) {
    const checks = getMetadataStorage().getTargetValidationMetadatas(shape, '', false, false);
    const optional = new Set(checks.filter(isCondition).map(({ propertyName }) => propertyName));
    const names = new Set(checks.map(({ propertyName }) => propertyName));
    const foreign = !checks.every((check) => isCondition(check) || check.name === FIELD_CHECK);
    fields = { names, required: [...names].filter((name) => !optional.has(name)), foreign };
    fieldsOfShapes.set(shape, fields);
  }
  return fields;
}

/** What a body gives: classes declare their other fields, too, as undefined. */
export function given<T extends object>(body: T): Partial<T> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Whether every field of the class is optional. */
export function mayBeEmpty(shape: new () => object): boolean {
  return fieldsOf(shape).required.length === 0;
}

/** The names that a request class declares. */
export function namesOf(shape: new () => object): ReadonlySet<string> {
  return fieldsOf(shape).names;
}

/** IsOptional or ValidateIf. With our decorators, both mean that the field is optional. */
function isCondition({ type }: { type: string }): boolean {
  return type === ValidationTypes.CONDITIONAL_VALIDATION;
}

/** The faults of each field; most requests have none. */
function faultsByField(shape: new () => object, value: object, zone: string): Map<string, Faults> {
  const { names, required, foreign } = fieldsOf(shape);
  const fields = value as Record<string, unknown>;
  const found = new Map<string, Faults>();
  for (const name of names) {
    const field = fields[name];
    if (isFault(field)) faultsAt(found, name).add(field, name);
  }
  // Without faults this is skipped: class-validator would build a report of every field.
  if (foreign || required.some((name) => fields[name] === undefined)) {
    for (const { property } of validateSync(value, CHECKS)) {
      if (!found.has(property)) faultsAt(found, property).add(new Fault('missing', 'This is required.', [property]));
    }
  }
  if (TOGETHER in value) {
    const together = (value as Interdependent)[TOGETHER](zone).filter(({ at: [name] }) => !found.has(String(name)));
    for (const fault of together) faultsAt(found, String(fault.at[0])).add(fault);
  }
  return found;
}

const CHECKS = { forbidUnknownValues: false, stopAtFirstError: true };

function faultsAt(found: Map<string, Faults>, name: string): Faults {
  let faults = found.get(name);
  if (!faults) found.set(name, (faults = new Faults()));
  return faults;
}
