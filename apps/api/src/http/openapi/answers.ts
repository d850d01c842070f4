import { REQUIRED } from '@app/database';
import { type Answer, answerOf } from '../lists/answer.js';
import { declared, Source } from '../lists/source.js';
import { isWrite } from '../request/attempt.js';
import type { Route } from '../routing/route-table.js';
import { type Schema, type Shape, withoutNull } from '../views/schemas.js';
import { View } from '../views/view.js';
import { maskable } from '../writes/masked.js';

const REFERENCE = '#/components/schemas/';

/** An expression that yields a value whatever the row: a literal stands in for null. */
const FILLED = /^coalesce\([^()]*, (?:'[^']*'|-?\d+|true|false)\)$/;

/**
 * The schemas of answers. What reads show of columns that are never null is not nullable. Writes may hide any field of a record from keys
 * without `read`, so their shapes are others, with names of their own where reads have the same shape.
 */
export class AnswerSchemas {
  /** The fields that no read shows as null, by the name of the view. */
  private readonly filled = new Map<string, readonly string[]>();
  /** The names of all shapes that reads show. */
  private readonly read = new Set<string>();

  constructor(routes: readonly Route[]) {
    for (const { handler } of routes.filter(({ method }) => !isWrite(method))) {
      for (const shape of answerOf(handler)?.shapes ?? []) {
        this.read.add(shape.name);
        if (!(shape instanceof View)) continue;
        const [before, fields] = [this.filled.get(shape.name), filledOf(shape)];
        this.filled.set(shape.name, before ? fields.filter((field) => before.includes(field)) : fields);
      }
    }
  }

  /** The answer's schema. Adds those that it refers to. */
  of(method: string, { schema, shapes }: Answer, schemas: Record<string, Schema>): Schema {
    if (!isWrite(method)) {
      for (const shape of shapes) schemas[shape.name] ??= this.narrowed(shape);
      return schema;
    }
    const renamed = (part: Schema): Schema =>
      JSON.parse(JSON.stringify(part), (key, value: unknown) =>
        key === '$ref' ? REFERENCE + this.written((value as string).replace(REFERENCE, ''), shapes) : value,
      ) as Schema;
    for (const shape of shapes) schemas[this.written(shape.name, shapes)] ??= renamed(maskable(shape));
    return renamed(schema);
  }

  private narrowed({ name, schema }: Shape): Schema {
    const filled = this.filled.get(name);
    if (!filled) return schema;
    const fields = Object.entries(schema.properties as Record<string, Schema>);
    const properties = fields.map(([field, of]) => [field, filled.includes(field) ? withoutNull(of) : of] as const);
    return { ...schema, properties: Object.fromEntries(properties) };
  }

  /** The name of a shape in answers of writes. */
  private written(name: string, shapes: readonly Shape[]): string {
    const shape = shapes.find((one) => one.name === name);
    if (!shape || !this.read.has(name)) return name;
    const parts = JSON.stringify(shape.schema).matchAll(/"#\/components\/schemas\/(\w+)"/g);
    const differs = shape instanceof View || [...parts].some(([, part]) => this.written(part!, shapes) !== part);
    return differs ? `${name}Written` : name;
  }
}

/** The view's fields that are never null, since its records come from tables with columns that are not. */
function filledOf(view: View): string[] {
  const source = declared(view)?.source;
  const tables = source instanceof Source ? source.tables : new Map<string, string>();
  const isFilled = (value: string): boolean => {
    const [, alias, column] = /^(\w+)\.(\w+)$/.exec(value) ?? [];
    if (alias === undefined) return FILLED.test(value);
    return REQUIRED[tables.get(alias) ?? '']?.includes(column!) ?? false;
  };
  return [...view.values].filter(([, value]) => isFilled(value)).map(([field]) => field);
}
