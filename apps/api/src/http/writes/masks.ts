import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import sql, { raw } from 'sql-template-tag';
import { grants } from '@app/access';
import { Vault } from '@app/config';
import { canonicalUuid, Database } from '@app/database';
import type { Caller } from '../auth/caller.js';
import { type Answer, answerOf } from '../lists/answer.js';
import { recordOf } from '../lists/records.js';
import { declared } from '../lists/source.js';
import { instant } from '../views/columns.js';
import { unsealed } from '../views/sealed.js';
import { View } from '../views/view.js';
import { type Fields, masked } from './masked.js';

/** An answer for keys with `read`, and for those without. */
export interface Sights {
  whole: unknown;
  masked: unknown;
}

/** Whether a key may see what was stored before its write. */
export const reads = ({ scopes }: Caller): boolean => grants(scopes, 'read');

/** What a write answers a key that may not read: what the request sent, and what it made or decided itself. */
@Injectable()
export class Masks {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
  ) {}

  /** Does the work of a write inside the ambient transaction. What is hidden follows from what the record was before. */
  async answer(context: ExecutionContext, work: () => Promise<unknown>): Promise<Sights> {
    const request = context.switchToHttp().getRequest<Request>();
    const answer = answerOf(context.getHandler());
    if (!answer) return once(await work());
    const { now, before } = await this.earlier(request, answer);
    const whole = await work();
    const seen = typeof whole === 'string' ? whole : JSON.stringify(whole);
    const sent = { ...ids(request), ...(JSON.parse(JSON.stringify(request.body ?? {})) as Fields) };
    const hidden = masked(JSON.parse(seen), answer, { now, before, sent });
    // Only text from the database is sent with its type already set.
    return { whole, masked: typeof whole === 'string' ? JSON.stringify(hidden) : hidden };
  }

  /** The record of the path as it was, and the time that the transaction stamps on what it makes. */
  private async earlier(
    { caller, params }: Request,
    { shapes }: Answer,
  ): Promise<{ now: string; before: Fields | null }> {
    const [, id] = Object.entries(params)[0] ?? [];
    const canonical = typeof id === 'string' ? canonicalUuid(id) : null;
    const shown = shapes.flatMap((shape) => (shape instanceof View ? (declared(shape) ?? []) : []))[0];
    const record = canonical && shown ? sql`(${recordOf(caller!, shown, canonical)})` : sql`NULL::text`;
    const time = raw(instant('now()::timestamptz(3)').sql);
    const [row] = await this.db.query<{ now: string; before: string | null }>(
      sql`SELECT ${time} AS now, ${record} AS before`,
    );
    const { now, before } = row!;
    return { now, before: before === null ? null : (JSON.parse(unsealed(before, this.vault, true)) as Fields) };
  }
}

const once = (whole: unknown): Sights => ({ whole, masked: whole });

/** The ids of the path, as answers write them. */
const ids = ({ params }: Request): Fields =>
  Object.fromEntries(Object.entries(params).map(([name, id]) => [name, String(id).toLowerCase()]));
