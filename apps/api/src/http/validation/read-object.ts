import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import type { Env } from '@app/config';
import { Fault, Faults } from './fault.js';

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
  const errors = validateSync(value, {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: false,
    stopAtFirstError: true,
  });
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
