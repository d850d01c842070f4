import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Env } from '@app/config';
import { Fault, Faults } from '@app/fields';
import { onceClosed } from '@app/serving';
import { accessOf } from '../auth/access.decorators.js';
import { requirePlatformBlog } from '../auth/scopes.guard.js';
import { ValidationFailed } from '../errors/api-error.js';
import { isWrite } from '../request/attempt.js';
import { Fairness, whileWaiting } from '../request/fairness.js';
import { bodyClassOf, bodyKindOf, listFieldOf, queryClassOf } from './declared.js';
import { contentHashOf } from './content-hash.js';
import { readJson } from './json-body.js';
import { mayBeEmpty, namesOf, readObject } from './read-object.js';

/** The request class of a route without parameters: anything given is unknown. */
class Nothing {}

const NONE = new Faults();

/**
 * Validates the request after 401, 429 and 403 have been decided; the body isn't read earlier. A guard rather than
 * pipes: a pipe sees one argument, and the first to fail would report only its own faults. The handler's `@ValidQuery` and
 * `@ValidBody` are the declaration.
 */
@Injectable()
export class ValidationGuard implements CanActivate {
  constructor(
    private readonly env: Env,
    private readonly fairness: Fairness,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const handler = context.getHandler();
    if (accessOf(handler)?.public) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const zone = request.caller!.organization.timeZone;
    const query = readObject(queryClassOf(handler) ?? Nothing, request.query, this.env, zone, 'parameter');
    const faults = new Faults();
    faults.add(query.faults, 'query');
    if (isWrite(request.method)) faults.add(await this.readBody(request, response, handler), 'body');
    if (faults.count > 0) throw ValidationFailed.of(faults);
    // Express's own property is a getter that would parse the text again.
    Object.defineProperty(request, 'query', { value: query.value, configurable: true });
    return true;
  }

  /**
   * Sets the body on the request, and the content hash if it is valid.
   *
   * @throws ApiError 403 when the content requires access that the key lacks
   */
  private async readBody(request: Request, response: Response, handler: object): Promise<Fault | Faults> {
    const shape = bodyClassOf(handler);
    const kind = bodyKindOf(handler);
    if (kind === 'upload') {
      requirePlatformBlog(handler, request.caller, { query: request.query, body: undefined });
      return NONE;
    }
    const sent = await this.receive(request, response, (arrived, refused) =>
      readJson(request, kind.json, namesOf(shape ?? Nothing), arrived, refused),
    );
    // An empty PATCH changes nothing.
    const raw = sent === undefined && shape && mayBeEmpty(shape) ? {} : sent;
    requirePlatformBlog(handler, request.caller, { query: request.query, body: raw });
    if (raw === undefined && shape) return new Fault('missing', 'Send a JSON object as the body.');
    if (raw !== undefined) {
      const listField = Array.isArray(raw) && shape ? listFieldOf(shape) : undefined;
      const given = listField === undefined ? raw : { [listField]: raw };
      if (typeof given !== 'object' || given === null || Array.isArray(given)) {
        return new Fault('dict_type', 'Send a JSON object as the body.');
      }
      const { value, faults } = readObject(shape ?? Nothing, given, this.env, request.caller!.organization.timeZone);
      if (faults.count > 0) return listField === undefined ? faults : faults.within();
      request.body = value;
      request.sentFields = Object.keys(given);
    }
    request.contentHash = contentHashOf(request.query, raw ?? null);
    return NONE;
  }

  /** Reads the body without a turn while it arrives. What has arrived counts until the response is sent. */
  private async receive<T>(
    request: Request,
    response: Response,
    read: (arrived: (bytes: number) => void, refused: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { budget } = this.fairness;
    const holding = budget.open(request.caller!.organizationId);
    onceClosed(response, () => {
      budget.release(holding);
    });
    const work = () =>
      read((bytes) => {
        budget.add(holding, bytes);
      }, holding.signal);
    // Usually the whole body has arrived with the headers.
    const body = await (request.complete ? work() : whileWaiting(request, work, holding.signal));
    holding.kept = true;
    return body;
  }
}
