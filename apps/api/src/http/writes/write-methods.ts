import {
  applyDecorators,
  Delete as NestDelete,
  Patch as NestPatch,
  Post as NestPost,
  Put as NestPut,
  UseInterceptors,
} from '@nestjs/common';
import { WriteInterceptor } from './write.interceptor.js';

/** Nest's decorator for a route of this method that changes something: one unit of work for each request. */
const writing = (method: (path?: string) => MethodDecorator) => (path?: string) =>
  applyDecorators(method(path), UseInterceptors(WriteInterceptor));

export const Post = writing(NestPost);
export const Put = writing(NestPut);
export const Patch = writing(NestPatch);
export const Delete = writing(NestDelete);
