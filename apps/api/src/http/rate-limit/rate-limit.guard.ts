import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { KeyLimit } from './key-limit.js';

/** Counts each request against the limit of its key. Public routes have no key. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly limit: KeyLimit) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { caller } = http.getRequest<Request>();
    if (caller) await this.limit.count(caller.keyId, http.getResponse<Response>());
    return true;
  }
}
