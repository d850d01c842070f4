import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateBy, ValidateIf } from 'class-validator';
import { isFault, type Parser } from './fault.js';
import { BodySchema, oneOfBy, schemaOf } from './body-schema.js';
import { FIELD_CHECK, type ReadOptions, released } from './read-object.js';
import {
  jsonBoolean,
  jsonBrand,
  jsonDay,
  jsonEnum,
  jsonInstant,
  jsonLink,
  jsonList,
  jsonObject,
  jsonText,
  jsonUnion,
  jsonUuid,
  orDefault,
  orNull,
  type TextRule,
  type Tolerate,
} from './body-parsers.js';
import { booleanText, brandText, dateText, enumText, integerText, tokenText, uuidText } from './parsers.js';

/** Leaves what the parser makes of the field, or the Fault that it finds, in the value's place. */
function readBy<T>(parse: Parser<T>): PropertyDecorator {
  return applyDecorators(
    Transform(({ value, options }) =>
      value === undefined ? undefined : parse(released(value), (options as unknown as ReadOptions).env),
    ),
    ValidateBy({
      name: FIELD_CHECK,
      validator: { validate: (value) => value !== undefined && !isFault(value) },
    }),
  );
}

/**
 * The house's vocabulary of request fields: each decorator is the reading, the check and the documentation of one field.
 * A parser leaves a Fault where a value should be, so that one pass finds all faults of a request.
 */
function field<T>(parse: Parser<T>, schema: ApiPropertyOptions, required: boolean): PropertyDecorator {
  return applyDecorators(
    readBy(parse),
    ...(required ? [] : [IsOptional()]),
    // The property's own type is what the handler gets; the schema is what goes over the wire.
    ApiProperty({ type: String, required, ...schema } as ApiPropertyOptions),
  );
}

interface Documented {
  description: string;
}

const defaulting = (fallback: unknown) => (fallback === undefined ? {} : { default: fallback });

export const QueryUuid = ({ description }: Documented) =>
  field(uuidText, { description, type: String, format: 'uuid' }, false);

/** The property's initialiser is the default, here and below; it is named for the documentation. */
export const QueryEnum = (
  values: readonly string[],
  { description, default: fallback }: Documented & { default?: string },
) => field(enumText(values), { description, type: String, enum: [...values], ...defaulting(fallback) }, false);

export const QueryBoolean = ({ description, default: fallback }: Documented & { default?: boolean }) =>
  field(booleanText, { description, type: Boolean, ...defaulting(fallback) }, false);

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

/**
 * How a field of a JSON body may be left out: `required` must be there, `nullable` may be null; null for one with a
 * `default` is the default. What the field is when it is left out, its initialiser says.
 */
interface Presence {
  description?: string;
  required?: boolean;
  nullable?: boolean;
  default?: unknown;
}

function bodyField<T>(parse: Parser<T>, schema: Record<string, unknown>, presence: Presence): PropertyDecorator {
  const { description, required = false, default: fallback } = presence;
  const hasDefault = fallback !== undefined;
  const nullable = presence.nullable || hasDefault;
  const type = nullable && typeof schema.type === 'string' ? [schema.type, 'null'] : schema.type;
  const values = nullable && Array.isArray(schema.enum) ? { enum: [...(schema.enum as unknown[]), null] } : {};
  const documented = {
    ...(description && { description }),
    ...defaulting(fallback),
    ...schema,
    ...values,
    ...(type !== undefined && { type }),
  };
  return applyDecorators(
    readBy(hasDefault ? orDefault<unknown>(parse, fallback) : nullable ? orNull(parse) : parse),
    // null has been read already: what is left out here is only what may be missing.
    ...(required ? [] : [ValidateIf((_object, value) => value !== undefined)]),
    BodySchema(documented, required),
  );
}

export const Text = (rule: TextRule, presence: Presence = {}) =>
  bodyField(
    jsonText(rule),
    {
      type: 'string',
      ...(rule.min !== undefined && { minLength: rule.min }),
      maxLength: rule.max,
      ...(rule.min && { pattern: '\\S' }),
      ...(rule.pattern && { pattern: rule.pattern.shape.source }),
    },
    presence,
  );

export const Uuid = (presence: Presence = {}) => bodyField(jsonUuid, { type: 'string', format: 'uuid' }, presence);

export const Flag = (presence: Presence = {}) => bodyField(jsonBoolean, { type: 'boolean' }, presence);

export const OneOf = (values: readonly string[], presence: Presence = {}) =>
  bodyField(jsonEnum(values), { type: 'string', enum: [...values] }, presence);

export const Instant = (presence: Presence = {}) =>
  bodyField(jsonInstant, { type: 'string', format: 'date-time' }, presence);

export const Day = (presence: Presence = {}) => bodyField(jsonDay, { type: 'string', format: 'date' }, presence);

/** One of the two brands of the configuration. */
export const Brand = (presence: Presence = {}) =>
  bodyField(jsonBrand, { type: 'string', examples: ['primary'] }, presence);

/** An http or https address. */
export const Link = (max: number, presence: Presence = {}) =>
  bodyField(
    jsonLink(max),
    { type: 'string', format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://', maxLength: max },
    presence,
  );

export const Texts = (item: TextRule, size: { min?: number; max: number }, presence: Presence = {}) =>
  bodyField(
    jsonList(jsonText(item), size),
    {
      type: 'array',
      items: {
        type: 'string',
        ...(item.min && { minLength: item.min, pattern: '\\S' }),
        maxLength: item.max,
      },
      ...(size.min !== undefined && { minItems: size.min }),
      maxItems: size.max,
    },
    presence,
  );

/** An object of another request class. */
export const Nested = (shape: new () => object, presence: Presence = {}) =>
  bodyField(
    jsonObject(shape),
    presence.nullable ? { oneOf: [schemaOf(shape), { type: 'null' }] } : schemaOf(shape),
    presence,
  );

/** A list of objects of several classes, told apart by a field. Faults of an item may be its own, see {@link Tolerate}. */
export const ListOf = (
  tag: string,
  shapes: Record<string, new () => object>,
  size: { min?: number; max: number },
  { tolerate, ...presence }: Presence & { tolerate?: Tolerate<object> } = {},
) =>
  bodyField(
    jsonList(jsonUnion(tag, shapes, tolerate), size),
    {
      type: 'array',
      items: oneOfBy(tag, Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, schemaOf(shape)]))),
      ...(size.min !== undefined && { minItems: size.min }),
      maxItems: size.max,
    },
    presence,
  );
