import { Injectable } from '@nestjs/common';
import type { Reader } from '@app/access';
import { Env } from '@app/config';
import { type PaperKind, Papers, type Period } from '@app/papers';
import type { Managed } from '../web/access.decorators.js';
import { seeOther, type SeeOther } from '../web/pages.js';

/** Leads to papers, which the API serves for 15 minutes to the person who asked. */
@Injectable()
export class PaperLinks {
  constructor(
    private readonly papers: Papers,
    private readonly env: Env,
  ) {}

  /** @throws Refused for an unknown record, and while there is no such paper of it */
  lead(organization: Managed, kind: PaperKind, id: string, period?: Period): Promise<SeeOther> {
    return this.leadReader('manager', organization, kind, id, period);
  }

  /** For a parent: to what was billed to them, and what they paid. @throws Refused for anything else */
  leadParent(me: Managed, kind: 'invoice' | 'receipt', id: string): Promise<SeeOther> {
    return this.leadReader('parent', me, kind, id);
  }

  private async leadReader(
    reader: Reader,
    { organizationId, by }: Managed,
    kind: PaperKind,
    id: string,
    period?: Period,
  ): Promise<SeeOther> {
    const asked = { organizationId, id, reader, readerId: by.userId };
    return seeOther(this.env.apiUrl + (await this.papers.of(kind, asked, period)));
  }
}
