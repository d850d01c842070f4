import { SetMetadata, type Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { type RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
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

/** The class of a handler's argument of this kind, from the metadata of Nest's parameter decorators. */
export function declaredType(controller: Type, name: string, kind: RouteParamtypes): Type<object> | undefined {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<string, { index: number }>;
  const found = Object.entries(args).find(([key]) => key.startsWith(`${kind}:`));
  if (!found) return undefined;
  const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, name) as Type<object>[];
  return types[found[1].index];
}
