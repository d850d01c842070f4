import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { RefreshQuery } from './coverage.queries.js';
import { CoverageService, type Refreshed } from './coverage.service.js';

declare module 'express-serve-static-core' {
  interface Request {
    refreshed?: Refreshed | null;
  }
}

/** Waits for the routing service after everything else has been checked, and before the write's transaction begins. */
@Injectable()
export class CoverageGuard implements CanActivate {
  constructor(private readonly coverage: CoverageService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    request.refreshed = await this.coverage.ask(request, request.query as unknown as RefreshQuery);
    return true;
  }
}
