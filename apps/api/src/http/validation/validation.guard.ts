import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { Request, Response } from 'express';
import { Env } from '@app/config';
import { BodyBudget, bodyLengthOf } from '@app/serving';
import { accessOf } from '../auth/access.decorators.js';
import { FullCapacity, type RoomCheck } from '../auth/full-capacity.js';
import { requirePlatformBlog } from '../auth/scopes.guard.js';
import { contentHashOf, isWrite } from '../request/attempt.js';
import { NO_ROOM_FOR_BODY, UPLOAD_BYTES } from '../request/capacity.js';
import { whileClientSends } from '../request/client-time.js';
import { bodyKindOf, declaredType } from './declared.js';
import { Fault, Faults } from './fault.js';
import { readJson } from './json-body.js';
import { mayBeEmpty, namesOf, readObject } from './read-object.js';

/** The request class of a route without parameters: anything given is unknown. */
class Nothing {}

const NONE = new Faults();

interface Shapes {
  query: Type<object>;
  body: Type<object> | null;
}

/**
 * Validates the request after 401, 429 and 403 have been decided; the body isn't read earlier. A guard rather than
 * pipes: a pipe sees one argument, and the first to fail would report only its own faults. The handler's `@Query()` and
 * `@Body()` classes are the declaration; the handler receives instances of them.
 */
@Injectable()
export class ValidationGuard implements CanActivate {
  private readonly shapes = new WeakMap<object, Shapes>();

  constructor(
    private readonly env: Env,
    private readonly budget: BodyBudget,
    full: FullCapacity,
  ) {
    full.add(this.refusal);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const handler = context.getHandler();
    if (accessOf(handler)?.public) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const shapes = this.shapesOf(context.getClass(), handler);
    const query = readObject(shapes.query, request.query, this.env);
    const faults = new Faults();
    faults.add(query.faults, 'query');
    if (isWrite(request.method)) faults.add(await this.readBody(request, response, handler, shapes.body), 'body');
    if (faults.count > 0) throw faults.toError();
    // Express's own property is a getter that would parse the text again.
    Object.defineProperty(request, 'query', { value: query.value, configurable: true });
    return true;
  }

  /** The refusal of a body for which there is no room; null when there is, or when the body is too long in any case. */
  private readonly refusal: RoomCheck = (organizationId, request, routeOf) => {
    const handler = isWrite(request.method ?? '') && routeOf()?.handler;
    if (!handler) return null;
    const kind = bodyKindOf(handler);
    const limit = kind === 'upload' ? UPLOAD_BYTES : kind.json;
    const bytes = kind === 'upload' ? limit : bodyLengthOf(request, limit);
    return bytes > limit || this.budget.hasRoom(organizationId, bytes) ? null : NO_ROOM_FOR_BODY;
  };

  /**
   * Sets the body on the request, and the content hash if it is valid.
   *
   * @throws ApiError 403 when the content requires access that the key lacks
   */
  private async readBody(
    request: Request,
    response: Response,
    handler: object,
    shape: Type<object> | null,
  ): Promise<Fault | Faults> {
    const admit = (bytes: number) => {
      this.budget.take(response, request.caller!.organizationId, bytes);
    };
    const kind = bodyKindOf(handler);
    if (kind === 'upload') {
      requirePlatformBlog(handler, request.caller, { query: request.query, body: undefined });
      admit(UPLOAD_BYTES);
      return NONE;
    }
    const read = () => readJson(request, kind.json, namesOf(shape ?? Nothing), admit);
    const sent = await whileClientSends(request, read);
    // An empty PATCH changes nothing.
    const raw = sent === undefined && shape && mayBeEmpty(shape) ? {} : sent;
    requirePlatformBlog(handler, request.caller, { query: request.query, body: raw });
    if (raw === undefined && shape) return new Fault('missing', 'Send a JSON object as the body.');
    if (raw !== undefined) {
      if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
        return new Fault('dict_type', 'Send a JSON object as the body.');
      }
      const { value, faults } = readObject(shape ?? Nothing, raw, this.env);
      if (faults.count > 0) return faults;
      request.body = value;
    }
    request.contentHash = contentHashOf(request.query, raw ?? null);
    return NONE;
  }

  private shapesOf(controller: Type, handler: object & { name?: string }): Shapes {
    let shapes = this.shapes.get(handler);
    if (!shapes) {
      shapes = {
        query: declaredType(controller, handler.name!, RouteParamtypes.QUERY) ?? Nothing,
        body: declaredType(controller, handler.name!, RouteParamtypes.BODY) ?? null,
      };
      this.shapes.set(handler, shapes);
    }
    return shapes;
  }
}
