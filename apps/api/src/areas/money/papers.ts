import { Controller, Get, HttpCode, Res, type Type } from '@nestjs/common';
import type { Response } from 'express';
import { type PaperKind, Papers } from '@app/papers';
import { type Caller, CurrentCaller, Documented, PathId, RequireScopes } from '../../http/kit.js';

const LEADS =
  'A redirect (302) to an address that serves the PDF for 15 minutes, as long as this key works. It needs no key of its own: do not pass it on. ';

interface PaperRoute {
  id: string;
  path: string;
  kind: Exclude<PaperKind, 'statement'>;
  summary: string;
  description: string;
}

/** The controller of a record on paper. */
export function paperController({ id, path, kind, summary, description }: PaperRoute): Type {
  const [, name] = /:(\w+)/.exec(path)!;

  @Controller(path)
  class PaperController {
    constructor(private readonly papers: Papers) {}

    @Get()
    @HttpCode(302)
    @RequireScopes('read')
    @Documented({ id, summary, description: LEADS + description, answer: null, conflicts: ['invalid_state'] })
    async lead(
      @CurrentCaller() { organizationId, keyId }: Caller,
      @PathId(name!) recordId: string,
      @Res({ passthrough: true }) response: Response,
    ): Promise<void> {
      const asked = { organizationId, id: recordId, reader: 'key', readerId: keyId } as const;
      response.location(await this.papers.of(kind, asked));
    }
  }
  return PaperController;
}
