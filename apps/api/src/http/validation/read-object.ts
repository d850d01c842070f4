import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, ValidationTypes } from 'class-validator';
import type { Env } from '@app/config';
import { Fault, Faults, isFault } from './fault.js';

/** What class-validator calls the check of a field of the house's vocabulary (fields.ts). */
export const FIELD_CHECK = 'field';

/** What class-transformer is handed besides its own options. */
export interface ReadOptions {
  env: Env;
}

/** A request class whose fields depend on each other tells here what is wrong with them together. */
export const TOGETHER = Symbol('what is wrong with the fields together');

export interface Interdependent {
  /** A field that cannot be read holds its Fault. */
  [TOGETHER](): Fault[];
}

/**
 * Reads a raw object into a request class: the instance, and all that is wrong with it, in the caller's own order.
 *
 * The libraries see declared names only. class-transformer's time is quadratic in the number of names, and it passes over
 * some of them in silence: __proto__, constructor, those of Object's own methods.
 */
export function readObject(shape: new () => object, raw: object, env: Env): { value: object; faults: Faults } {
  const { names } = fieldsOf(shape);
  const options: ReadOptions = { env };
  const value = plainToInstance(shape, declared(names, raw as Record<string, unknown>), options as object);
  const found = faultsByField(shape, value);
  const faults = new Faults();
  for (const name of Object.keys(raw)) {
    if (!names.has(name)) faults.add(Fault.unknown(name));
    const own = found.get(name);
    if (own) faults.add(own);
  }
  // What is missing comes last.
  for (const [name, own] of found) if (!Object.hasOwn(raw, name)) faults.add(own);
  return { value, faults };
}

/** The fields of a request class, as class-validator knows them. */
interface Fields {
  names: ReadonlySet<string>;
  required: string[];
  /** It has other checks than the house's. */
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

/** Whether a request of this class has to say anything at all. */
export function mayBeEmpty(shape: new () => object): boolean {
  return fieldsOf(shape).required.length === 0;
}

/** The names that a request class declares. */
export function namesOf(shape: new () => object): ReadonlySet<string> {
  return fieldsOf(shape).names;
}

/** IsOptional or ValidateIf: in the house's vocabulary both mean that the field may be left out. */
function isCondition({ type }: { type: string }): boolean {
  return type === ValidationTypes.CONDITIONAL_VALIDATION;
}

/**
 * What of the raw object is declared. What is nested goes to its parser untouched, as a function: class-transformer passes
 * those by. Anything else it would walk by itself, drop some names on the way and take a `constructor` in it for a class
 * to call.
 */
function declared(names: ReadonlySet<string>, raw: Record<string, unknown>): object {
  const known: Record<string, unknown> = {};
  for (const name of names) {
    if (!Object.hasOwn(raw, name)) continue;
    const value = raw[name];
    known[name] = typeof value === 'object' && value !== null ? () => value : value;
  }
  return known;
}

/** Undoes what {@link declared} wraps. */
export function unwrapped(value: unknown): unknown {
  return typeof value === 'function' ? (value as () => unknown)() : value;
}

/** What is wrong with each field; nothing, with most requests. */
function faultsByField(shape: new () => object, value: object): Map<string, Faults> {
  const { names, required, foreign } = fieldsOf(shape);
  const fields = value as Record<string, unknown>;
  const found = new Map<string, Faults>();
  for (const name of names) {
    const field = fields[name];
    if (isFault(field)) faultsAt(found, name).add(field, name);
  }
  // class-validator would build a report of every field to say that nothing is wrong.
  if (foreign || required.some((name) => fields[name] === undefined)) {
    for (const { property } of validateSync(value, CHECKS)) {
      if (!found.has(property)) faultsAt(found, property).add(new Fault('missing', 'This is required.', [property]));
    }
  }
  if (TOGETHER in value) {
    const together = (value as Interdependent)[TOGETHER]().filter(({ at: [name] }) => !found.has(String(name)));
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
