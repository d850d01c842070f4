import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import sql, { raw } from 'sql-template-tag';
import { grants, readsCodes } from '@app/access';
import { Vault } from '@app/config';
import { canonicalUuid, Database } from '@app/database';
import type { Caller } from '../auth/caller.js';
import { type Answer, answerOf } from '../lists/answer.js';
import { recordOf } from '../lists/records.js';
import { declared } from '../lists/source.js';
import { instant } from '../views/columns.js';
import { unsealed } from '../views/sealed.js';
import { View } from '../views/view.js';
import { type Fields, masked, showsCodes, withoutCodes } from './masked.js';

/**
 * What a key sees of an answer: the whole; or none of the codes, but those that the request made if it was this key's; or
 * neither codes nor what was stored before.
 */
export type Sight = 'whole' | `${'read' | 'masked'}${'' | ' by others'}`;

/** An answer for every sight. */
export type Sights = Record<Sight, unknown>;

/** Whether a key may see what was stored before its write. */
export const reads = ({ scopes }: Caller): boolean => grants(scopes, 'read');

/** @param maker the key whose request made the answer */
export function sightOf(caller: Caller, maker: string): Sight {
  if (readsCodes(caller)) return 'whole';
  return `${reads(caller) ? 'read' : 'masked'}${caller.keyId === maker ? '' : ' by others'}`;
}

/** What a write answers a key that may not read: what the request sent, and what it made or decided itself. */
@Injectable()
export class Masks {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
  ) {}

  /** Whether a key sees all that this route answers it. */
  all(context: ExecutionContext, caller: Caller): boolean {
    const answer = answerOf(context.getHandler());
    return readsCodes(caller) || (reads(caller) && !(answer && showsCodes(answer)));
  }

  /** Does the work of a write inside the ambient transaction. What is hidden follows from what the record was before. */
  async answer(context: ExecutionContext, work: () => Promise<unknown>): Promise<Sights> {
    const request = context.switchToHttp().getRequest<Request>();
    const answer = answerOf(context.getHandler());
    if (!answer) return once(await work());
    const { now, before } = await this.earlier(request, answer);
    // What creates a record may find one, and who has not left is not taken back: both decide nothing of what was there.
    const acts = /:\w+\/(?!restore$)[^:]+$/.test((request.route as { path: string }).path);
    const whole = await work();
    const seen = typeof whole === 'string' ? whole : JSON.stringify(whole);
    const sent = { ...ids(request), ...(JSON.parse(JSON.stringify(request.body ?? {})) as Fields) };
    const known = { now, before, sent, acts };
    const hidden = masked(JSON.parse(seen), answer, known);
    const codeless = (of: unknown, made: boolean) => (showsCodes(answer) ? withoutCodes(of, answer, known, made) : of);
    // Only text from the database is sent with its type already set.
    const like = (of: unknown) => (typeof whole === 'string' ? JSON.stringify(of) : of);
    const read = (made: boolean) => (showsCodes(answer) ? like(codeless(JSON.parse(seen), made)) : whole);
    return {
      whole,
      read: read(true),
      'read by others': read(false),
      masked: like(hidden),
      'masked by others': like(codeless(hidden, false)),
    };
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

const once = (whole: unknown): Sights => ({
  whole,
  read: whole,
  'read by others': whole,
  masked: whole,
  'masked by others': whole,
});

/** The ids of the path, as answers write them. */
const ids = ({ params }: Request): Fields =>
  Object.fromEntries(Object.entries(params).map(([name, id]) => [name, String(id).toLowerCase()]));
