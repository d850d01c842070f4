import { Body, Query, SetMetadata, type Type } from '@nestjs/common';
import { JSON_LIMIT } from './json-body.js';

const BODY = 'body';

/** The body of a route: JSON up to this size, or an upload that a guard of the route reads. */
export type BodyKind = { json: number } | 'upload';

/** The route accepts a longer JSON body than usual. */
export const JsonUpTo = (bytes: number) => SetMetadata<string, BodyKind>(BODY, { json: bytes });

/** The route's body is not JSON: a guard of the route reads it. */
export const Upload = () => SetMetadata<string, BodyKind>(BODY, 'upload');

export function bodyKindOf(handler: object): BodyKind {
  return (Reflect.getMetadata(BODY, handler) as BodyKind | undefined) ?? { json: JSON_LIMIT };
}

const LIST_FIELD = 'list field';

/** A request class with one field, a list: the body may also be that list itself. */
export const OrList =
  (field: string): ClassDecorator =>
  (target) => {
    Reflect.defineMetadata(LIST_FIELD, field, target);
  };

export function listFieldOf(shape: object): string | undefined {
  return Reflect.getMetadata(LIST_FIELD, shape) as string | undefined;
}

const QUERY_CLASS = 'query class';
const BODY_CLASS = 'body class';

/** The request's query. The validation guard checks it, and makes it an instance of this class. */
export const ValidQuery = (type: Type<object>) => validated(QUERY_CLASS, type, Query());

/** The request's JSON body. The validation guard checks it, and makes it an instance of this class. */
export const ValidBody = (type: Type<object>) => validated(BODY_CLASS, type, Body());

function validated(key: string, type: Type<object>, inject: ParameterDecorator): ParameterDecorator {
  return (controller, name, index) => {
    inject(controller, name, index);
    Reflect.defineMetadata(key, type, (controller as Record<string | symbol, object>)[name!]!);
  };
}

export function queryClassOf(handler: object): Type<object> | undefined {
  return Reflect.getMetadata(QUERY_CLASS, handler) as Type<object> | undefined;
}

export function bodyClassOf(handler: object): Type<object> | undefined {
  return Reflect.getMetadata(BODY_CLASS, handler) as Type<object> | undefined;
}
