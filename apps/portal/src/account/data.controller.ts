import { Controller, Get, Req, StreamableFile } from '@nestjs/common';
import type { Request } from 'express';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import { ConfirmIdentity, ForSignedIn, Session } from '../web/access.decorators.js';
import { Sessions, type SignedIn } from '../web/sessions.js';

/** Each reads all that an organization has. */
const DOWNLOADS: AttemptLimit = { purpose: 'data download of', most: 5, minutes: 60 };

/** What is kept about the person who is signed in, as a file. */
@Controller('account/data/download')
@ForSignedIn()
export class DataController {
  constructor(
    private readonly db: Database,
    private readonly sessions: Sessions,
    private readonly limits: AttemptLimits,
  ) {}

  @Get()
  @ConfirmIdentity('/account')
  async download(@Session() session: SignedIn, @Req() request: Request): Promise<StreamableFile> {
    const { userId, email, firstName, lastName, memberships } = session;
    await this.limits.take(DOWNLOADS, userId);
    const organizations: object[] = [];
    for (const [organizationId, name] of new Map(memberships.map((one) => [one.organizationId, one.name]))) {
      const [rows] = await this.db.read<[{ name: string; content: object[] }]>(
        { organizationId },
        sql`SELECT name, content FROM own_rows(${this.sessions.secretOf(request)})`,
      );
      organizations.push({ name, ...Object.fromEntries(rows.map((row) => [row.name, row.content])) });
    }
    const you = { id: userId, email, first_name: firstName, last_name: lastName };
    const file = JSON.stringify({ you, organizations }, null, 2);
    return new StreamableFile(Buffer.from(file), {
      type: 'application/json; charset=utf-8',
      disposition: 'attachment; filename="my-data.json"',
    });
  }
}
