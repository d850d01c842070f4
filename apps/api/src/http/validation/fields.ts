import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { type ClassTransformOptions, Transform } from 'class-transformer';
import { IsOptional, ValidateBy } from 'class-validator';
import type { Env } from '@app/config';
import { Fault, type Parser } from './fault.js';
import { booleanText, brandText, dateText, enumText, integerText, tokenText, uuidText } from './parsers.js';

/** What the validation guard hands to class-transformer besides its own options. */
export interface ReadOptions extends ClassTransformOptions {
  env: Env;
}

/**
 * The house's vocabulary of request fields: each decorator is the reading, the check and the documentation of one field.
 * A parser leaves a Fault where a value should be, so that one pass finds all faults of a request.
 */
function field<T>(parse: Parser<T>, schema: ApiPropertyOptions, required: boolean): PropertyDecorator {
  return applyDecorators(
    Transform(({ value, options }) => (value === undefined ? undefined : parse(value, (options as ReadOptions).env))),
    ValidateBy({ name: 'field', validator: { validate: (value) => value !== undefined && !(value instanceof Fault) } }),
    ...(required ? [] : [IsOptional()]),
    // The property's own type is what the handler gets; the schema is what goes over the wire.
    ApiProperty({ type: String, required, ...schema } as ApiPropertyOptions),
  );
}

interface Documented {
  description: string;
}

export const QueryUuid = ({ description }: Documented) =>
  field(uuidText, { description, type: String, format: 'uuid' }, false);

export const QueryEnum = (values: readonly string[], { description }: Documented) =>
  field(enumText(values), { description, type: String, enum: [...values] }, false);

/** The property's initialiser is the default; it is named here for the documentation. */
export const QueryBoolean = ({ description, default: fallback }: Documented & { default?: boolean }) =>
  field(booleanText, { description, type: Boolean, ...(fallback === undefined ? {} : { default: fallback }) }, false);

export const QueryInteger = ({
  description,
  min,
  max,
  default: fallback,
}: Documented & { min: number; max: number; default: number }) =>
  field(integerText(min, max), { description, type: 'integer', minimum: min, maximum: max, default: fallback }, false);

export const QueryDate = ({ description }: Documented) =>
  field(dateText, { description, type: String, examples: ['2026-05-01', '2026-05-01T09:30:00Z'] }, false);

export const QueryToken = (pattern: RegExp, message: string, { description }: Documented) =>
  field(tokenText(pattern, message), { description, type: String }, false);

export const QueryBrand = ({ description }: Documented) =>
  field(brandText, { description, type: String, examples: ['primary'] }, false);
