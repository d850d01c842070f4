import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isWrite } from '../request/attempt.js';
import { accessOf } from './access.decorators.js';
import { Authentication } from './authentication.js';

/** Finds the caller of every route that is not public. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly authentication: Authentication) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (accessOf(context.getHandler())?.public) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    // Responses belong to one organization: no shared cache may store them.
    http.getResponse<Response>().setHeader('Cache-Control', 'no-store');
    const presumed = isWrite(request.method) ? null : this.authentication.presume(request);
    request.caller = presumed ?? (await this.authentication.identify(request));
    return true;
  }
}
