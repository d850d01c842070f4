import {
  applyDecorators,
  Delete as NestDelete,
  HttpCode,
  Patch as NestPatch,
  Post as NestPost,
  Put as NestPut,
  UseInterceptors,
} from '@nestjs/common';
import { WriteInterceptor } from './write.interceptor.js';

/** Nest's decorator for a route of this method that changes something: one unit of work for each request, which supports `Idempotency-Key`. */
const writing =
  (method: (path?: string) => MethodDecorator) =>
  /** @param status of a success, if it is not the method's usual one */
  (path?: string, status?: number) =>
    applyDecorators(
      method(path),
      UseInterceptors(WriteInterceptor),
      ...(status === undefined ? [] : [HttpCode(status)]),
    );

export const Post = writing(NestPost);
export const Put = writing(NestPut);
export const Patch = writing(NestPatch);
export const Delete = writing(NestDelete);
