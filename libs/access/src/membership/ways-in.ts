import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database, type Tables } from '@app/database';
import { Invites } from '@app/people';
import type { ActorIds } from './membership-notices.js';

/** What became of the ways in that somebody had seen or made. */
export interface WaysInEnded {
  /** Codes that were replaced, or switched off if nothing but their hash is stored. */
  codes: number;
  /** Invites to addresses that wait for an owner. */
  held: number;
  /** The ids of codes that a manager kept. */
  kept: string[];
}

/** Whose ways in end: a person with their keys, or a key. */
export type Maker = { userId: string } | { keyId: string };

type Code = Pick<Tables['invites'], 'scope'> & { id: string; target_id: string; standing: boolean; sealed: boolean };

/** As SQL, whether somebody made the invite `i`, in the portal or with a key. */
export function madeBy(organizationId: string, maker: Maker): Sql {
  if ('keyId' in maker) return sql`i.api_key_id = ${maker.keyId}`;
  return sql`(i.created_by = ${maker.userId} OR i.api_key_id IN (SELECT k.id FROM api_keys k
    WHERE k.organization_id = ${organizationId} AND k.created_by = ${maker.userId}))`;
}

/** As SQL, the codes and links `i` that work, and that somebody made or, if they manage, could read. */
export function codesKnownTo(organizationId: string, maker: Maker, reads: boolean | Sql): Sql {
  return sql`i.organization_id = ${organizationId} AND i.email IS NULL AND i.revoked_at IS NULL
    AND i.accepted_at IS NULL AND (i.standing OR i.expires_at > now())
    AND (${madeBy(organizationId, maker)} OR (${reads} AND i.sealed IS NOT NULL))`;
}

/** Ways into an organization do not outlive the rights of whoever has seen or made them. */
@Injectable()
export class WaysIn {
  constructor(
    private readonly db: Database,
    private readonly invites: Invites,
  ) {}

  /**
   * Replaces the codes and links that somebody has seen or made, inside the ambient transaction, and holds the invites that they made
   * until an owner confirms them, for 14 days at most.
   *
   * @param reads whether they could read the codes that are kept
   * @param keep the ids of codes that go on working
   */
  async end(
    organizationId: string,
    by: ActorIds,
    maker: Maker,
    reads: boolean,
    keep: readonly string[],
  ): Promise<WaysInEnded> {
    const known = await this.db.query<Code>(sql`
      SELECT i.id, i.scope, i.standing, i.target_id, i.sealed IS NOT NULL AS sealed FROM invites i
      WHERE ${codesKnownTo(organizationId, maker, reads)} ORDER BY i.id FOR NO KEY UPDATE`);
    const ended = known.filter(({ id }) => !keep.includes(id));
    await this.db.query(sql`
      UPDATE invites SET revoked_at = now(), switched_off = sealed IS NULL
      WHERE organization_id = ${organizationId} AND id = ANY (${ended.map(({ id }) => id)}::uuid[])`);
    await this.replace(organizationId, 'userId' in maker && maker.userId === by.userId ? null : by.userId, ended);
    const held = await this.db.query(sql`
      WITH held AS (
        UPDATE invites i SET held_at = now(), expires_at = least(i.expires_at, now() + interval '14 days')
        WHERE i.organization_id = ${organizationId} AND i.email IS NOT NULL AND i.scope <> 'account' AND i.held_at IS NULL
          AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND ${madeBy(organizationId, maker)} RETURNING 1)
      SELECT FROM held`);
    const kept = known.filter(({ id }) => keep.includes(id)).map(({ id }) => id);
    return { codes: ended.length, held: held.length, kept };
  }

  /** Codes that records show have successors at once: the permanent ones, and one for each classroom. */
  private async replace(organizationId: string, createdBy: string | null, ended: readonly Code[]): Promise<void> {
    if (ended.some(({ standing }) => standing)) await this.invites.addPermanentCodes(organizationId, createdBy);
    const classrooms = ended
      .filter(({ scope, sealed }) => sealed && scope === 'classroom')
      .map((code) => code.target_id);
    const there = await this.db.query<{ id: string }>(sql`
      SELECT id FROM classrooms WHERE organization_id = ${organizationId} AND NOT is_archived AND id = ANY (${[...new Set(classrooms)]}::uuid[])`);
    const wanted = { scope: 'classroom', role: 'student', code: true, createdBy } as const;
    await this.invites.mint(
      organizationId,
      there.map(({ id }) => ({ ...wanted, targetId: id })),
    );
  }
}
