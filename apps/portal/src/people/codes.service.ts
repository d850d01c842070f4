import { Injectable } from '@nestjs/common';
import { type CameByCode, JoinedByCode } from '@app/access';
import type { ActingPerson } from '@app/audit';
import { Env } from '@app/config';
import { Database, type Page, pageOf, type Position } from '@app/database';
import { Invites } from '@app/people';
import { PageError } from '../web/page-error.js';
import type { Membership } from '../web/sessions.js';
import { type CodeRow, codesPage, oneCode, permanentCodes } from './codes.queries.js';

/** Rows per page. With their forms, a page stays below 60 kB. */
const ROWS = 20;
/** How many of those to be removed are named. */
const NAMED = 100;

/** A code with its text and link; null where only a hash is stored, or it works no more. */
export interface CodeView extends Omit<CodeRow, 'sealed'> {
  code: string | null;
  url: string | null;
}

/** The codes of an organization, for its owners and admins. */
@Injectable()
export class CodesService {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly invites: Invites,
    private readonly joined: JoinedByCode,
  ) {}

  async list(
    { organizationId }: Membership,
    after: Position | null,
  ): Promise<Page<CodeView> & { permanent: CodeView[] }> {
    const [permanent, rows] = await this.db.read<[CodeRow, CodeRow]>(
      { organizationId },
      permanentCodes(organizationId),
      codesPage(organizationId, after, ROWS + 1),
    );
    const { rows: shown, next } = pageOf(rows, ROWS, 'created_at');
    return { permanent: permanent.map((row) => this.shown(row)), rows: shown.map((row) => this.shown(row)), next };
  }

  /** @throws PageError 404 */
  async code({ organizationId }: Membership, id: string): Promise<CodeView> {
    const [[row]] = await this.db.read<[CodeRow]>({ organizationId }, oneCode(organizationId, id));
    if (!row) throw PageError.notFound();
    return this.shown(row);
  }

  /** Those whom {@link undoing} would remove, and how many they are. */
  since({ organizationId }: Membership, id: string, since: Date): Promise<[CameByCode[], number]> {
    return this.joined.since({ organizationId }, id, since, NAMED);
  }

  /** Takes no longer than half of a request's time from now on, so that it commits what it did. */
  undoing({ organizationId }: Membership, by: ActingPerson, id: string, since: Date) {
    const until = Date.now() + this.env.get('REQUEST_DEADLINE_SECONDS') * 500;
    return () => this.joined.undo(organizationId, by, id, since, until);
  }

  urlOf(secret: string): string {
    return this.invites.joinUrl(secret);
  }

  private shown({ sealed, ...row }: CodeRow): CodeView {
    const code = row.state === 'works' ? this.invites.codeOf(sealed) : null;
    return { ...row, code, url: code && this.urlOf(code) };
  }
}
