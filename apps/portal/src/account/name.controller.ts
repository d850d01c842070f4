import { Controller, Get, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import { ForSignedIn, Session } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import { problemsOfNames } from '../web/names.js';
import { SignInNeeded } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { Sessions, type SignedIn } from '../web/sessions.js';

/** Each change is an audit row in every organization of the person. */
const CHANGES: AttemptLimit = { purpose: 'name change of', most: 10, minutes: 60 };

/** Changes the name of the person who is signed in. */
@Controller('account/name')
@ForSignedIn()
export class NameController {
  constructor(
    private readonly db: Database,
    private readonly sessions: Sessions,
    private readonly limits: AttemptLimits,
  ) {}

  @Get()
  show(@Session() { firstName, lastName }: SignedIn): Page {
    return page('account/name', { first_name: firstName, last_name: lastName, problems: {} });
  }

  @Post()
  async change(@SentForm() form: Form, @Req() request: Request): Promise<Page | SeeOther> {
    const [first, last] = [form.text('first_name'), form.text('last_name')];
    const problems = problemsOfNames(first, last);
    if (Object.keys(problems).length > 0) {
      const [first_name, last_name] = [first.slice(0, 300), last.slice(0, 300)];
      return page('account/name', { first_name, last_name, problems }, 422);
    }
    await this.limits.take(CHANGES, request.session!.userId);
    const [row] = await this.db.lookUp<{ done: boolean }>(
      sql`SELECT change_name(${this.sessions.secretOf(request)}, ${first}, ${last}, ${request.id}) AS done`,
    );
    if (!row!.done) throw new SignInNeeded(null);
    return seeOther('/account', 'success', 'Your name was changed.');
  }
}
