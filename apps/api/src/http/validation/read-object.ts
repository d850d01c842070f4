import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError, ValidationTypes } from 'class-validator';
import type { Env } from '@app/config';
import { Fault, Faults } from './fault.js';

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

/** Reads a raw object into a request class: the instance, and all that is wrong with it, in the caller's own order. */
export function readObject(shape: new () => object, raw: object, env: Env): { value: object; faults: Fault[] } {
  const options: ReadOptions = { env };
  const value = plainToInstance(shape, held(raw), options as object);
  const errors = isSound(shape, raw, value) ? [] : validateSync(value, CHECKS);
  const names = Object.keys(raw);
  // class-transformer passes over some names in silence: __proto__, constructor, those of Object's own methods.
  const lost = names.filter((name) => !Object.hasOwn(value, name)).map(unknown);
  const faults = [...errors.flatMap(describe), ...lost];
  if (TOGETHER in value) {
    const told = new Set(faults.map(({ at }) => at[0]));
    faults.push(...(value as Interdependent)[TOGETHER]().filter(({ at }) => !told.has(at[0])));
  }
  return { value, faults: faults.length > 1 ? inOrderOf(names, faults) : faults };
}

/** The faults that a parser left in a value's place. */
export function faultsOf(value: unknown): readonly Fault[] {
  if (value instanceof Fault) return [value];
  return value instanceof Faults ? value.list : [];
}

const CHECKS = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false, stopAtFirstError: true };

/** The fields of a request class, and those that it cannot do without. */
interface Fields {
  known: ReadonlySet<string>;
  required: string[];
}

const fieldsOfShapes = new WeakMap<object, Fields | null>();

/** What class-validator knows of the class; null where it has other checks than the house's, which it alone can make. */
function fieldsOf(shape: new () => object): Fields | null {
  let fields = fieldsOfShapes.get(shape);
  if (fields === undefined) {
    const checks = getMetadataStorage().getTargetValidationMetadatas(shape, '', false, false);
    const optional = new Set(checks.filter(isCondition).map(({ propertyName }) => propertyName));
    const known = new Set(checks.map(({ propertyName }) => propertyName));
    const ours = checks.every((check) => isCondition(check) || check.name === FIELD_CHECK);
    fields = ours ? { known, required: [...known].filter((name) => !optional.has(name)) } : null;
    fieldsOfShapes.set(shape, fields);
  }
  return fields;
}

/** IsOptional or ValidateIf: in the house's vocabulary both mean that the field may be left out. */
function isCondition({ type }: { type: string }): boolean {
  return type === ValidationTypes.CONDITIONAL_VALIDATION;
}

/** Whether nothing is wrong, as with most requests: class-validator would build a report of every field to say so. */
function isSound(shape: new () => object, raw: object, value: object): boolean {
  const fields = fieldsOf(shape);
  return (
    fields !== null &&
    Object.keys(raw).every((name) => fields.known.has(name)) &&
    fields.required.every((name) => (value as Record<string, unknown>)[name] !== undefined) &&
    Object.values(value).every((field) => faultsOf(field).length === 0)
  );
}

/**
 * What is nested goes to its parser untouched, as a function: class-transformer passes those by. Anything else it would walk
 * by itself, drop some names on the way and take a `constructor` in it for a class to call.
 */
function held(raw: object): object {
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'object' && value !== null ? () => value : value,
    ]),
  );
}

/** The value as the caller wrote it, see {@link held}. */
export function released(value: unknown): unknown {
  return typeof value === 'function' ? (value as () => unknown)() : value;
}

function describe(error: ValidationError): Fault[] {
  const found = faultsOf(error.value);
  if (found.length > 0) return found.map((fault) => fault.under(error.property));
  if (error.constraints?.whitelistValidation) return [unknown(error.property)];
  return [new Fault('missing', 'This is required.', [error.property])];
}

function unknown(name: string): Fault {
  return new Fault('extra_forbidden', 'This is not known here. Check its spelling.', [name]);
}

/** As the caller wrote them; what is missing comes last. */
function inOrderOf(names: string[], faults: Fault[]): Fault[] {
  const places = new Map(names.map((name, index) => [name, index]));
  const placeOf = ({ at }: Fault) => places.get(String(at[0])) ?? names.length;
  return faults.sort((a, b) => placeOf(a) - placeOf(b));
}
