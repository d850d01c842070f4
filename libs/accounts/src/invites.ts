import { createHash, randomBytes, randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env, Vault } from '@app/config';
import { Database, type Invite } from '@app/database';

/** What an invite is for. */
export interface NewInvite {
  scope: Invite['scope'];
  role: Invite['role'];
  targetId: string;
  subjectId?: string | null;
  /** The one person that it is for; without, it is shareable. */
  email?: string | null;
  /** A short code to be typed, instead of a token in a link. */
  code?: boolean;
  apiKeyId?: string | null;
}

/** An invite whose secret is shown this once. */
export interface MintedInvite extends NewInvite {
  id: string;
  /** Token or code. */
  secret: string;
  expiresAt: Date;
  createdAt: Date;
}

/** Whom the two standing join codes of an organization let in. */
const STANDING_ROLES = ['student', 'tutor'] as const;
export type StandingRole = (typeof STANDING_ROLES)[number];

/** Without 0 O 1 I L: a code is read aloud and typed. */
const CODE_ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const CODE_LENGTH = 10;
const TOKEN_BYTES = 32;
const DAY_MS = 86_400_000;

/** Tokens, codes and the rows behind them. Only hashes are stored. */
@Injectable()
export class Invites {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly vault: Vault,
  ) {}

  /** Makes invites inside the ambient transaction, in one statement however many. */
  async mint(organizationId: string, wanted: NewInvite[]): Promise<MintedInvite[]> {
    const minted = this.prepare(wanted);
    await this.store(organizationId, minted);
    return minted;
  }

  /** Invites with their secrets, which open nothing before they are stored. */
  prepare(wanted: NewInvite[]): MintedInvite[] {
    const createdAt = new Date();
    return wanted.map((invite) => ({
      ...invite,
      id: uuidv7(),
      secret: invite.code ? newCode() : newToken(),
      expiresAt: new Date(createdAt.getTime() + this.lifetimeDays(invite) * DAY_MS),
      createdAt,
    }));
  }

  /** Inside the ambient transaction. */
  async store(organizationId: string, minted: MintedInvite[]): Promise<void> {
    if (minted.length === 0) return;
    await this.db.query(sql`
      INSERT INTO invites (id, organization_id, scope, role, target_id, subject_id, email, secret_hash, api_key_id,
        expires_at, created_at)
      SELECT id, ${organizationId}, scope, role, target_id, subject_id, email, secret_hash, api_key_id, expires_at, created_at
      FROM unnest(
        ${minted.map(({ id }) => id)}::uuid[], ${minted.map(({ scope }) => scope)}::text[],
        ${minted.map(({ role }) => role)}::text[], ${minted.map(({ targetId }) => targetId)}::uuid[],
        ${minted.map(({ subjectId }) => subjectId ?? null)}::uuid[], ${minted.map(({ email }) => email ?? null)}::text[],
        ${minted.map(({ secret }) => hashOf(secret))}::bytea[], ${minted.map(({ apiKeyId }) => apiKeyId ?? null)}::uuid[],
        ${minted.map(({ expiresAt }) => expiresAt.toISOString())}::timestamptz[],
        ${minted.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[]
      ) AS i (id, scope, role, target_id, subject_id, email, secret_hash, api_key_id, expires_at, created_at)`);
  }

  /** {@link addStandingCodes} in a transaction of its own. Returns whether there was anything to make. */
  ensureStandingCodes(organizationId: string): Promise<boolean> {
    return this.db.transaction({ organizationId }, () => this.addStandingCodes(organizationId));
  }

  /**
   * Makes the codes that always let students and tutors in, as far as they are not there yet, inside the ambient
   * transaction. Without an ENCRYPTION_KEY nothing is made: a command on a machine that does not hold the key leaves it
   * to the worker, which does.
   *
   * @returns whether one was made
   */
  async addStandingCodes(organizationId: string): Promise<boolean> {
    if (!this.env.get('ENCRYPTION_KEY')) return false;
    const codes = STANDING_ROLES.map((role) => ({ role, code: newCode() }));
    const made = await this.db.query(sql`
      INSERT INTO invites (id, organization_id, scope, role, target_id, secret_hash, standing, sealed)
      SELECT id, ${organizationId}, 'organization', role, ${organizationId}, secret_hash, true, sealed
      FROM unnest(
        ${codes.map(() => uuidv7())}::uuid[], ${codes.map(({ role }) => role)}::text[],
        ${codes.map(({ code }) => hashOf(code))}::bytea[],
        ${codes.map(({ code }) => this.vault.seal('join codes', code))}::bytea[]
      ) AS c (id, role, secret_hash, sealed)
      ON CONFLICT DO NOTHING RETURNING id`);
    return made.length > 0;
  }

  /**
   * The organization's standing codes; null for one that is not there (yet), or that was sealed with an ENCRYPTION_KEY of
   * before: it lets people in as ever, but cannot be shown. Reads only.
   */
  async standingCodes(organizationId: string): Promise<Record<StandingRole, string | null>> {
    const [rows] = await this.db.read<[{ role: StandingRole; sealed: Buffer }]>(
      { organizationId },
      sql`SELECT role, sealed FROM invites
        WHERE organization_id = ${organizationId} AND standing AND revoked_at IS NULL`,
    );
    const sealed = new Map(rows.map((row) => [row.role, row.sealed]));
    const open = (role: StandingRole) => {
      const code = sealed.get(role);
      try {
        return code ? this.vault.open('join codes', code) : null;
      } catch {
        return null;
      }
    };
    return { student: open('student'), tutor: open('tutor') };
  }

  /** Takes back what was mailed to a person for their account: the address was not theirs, or is no more. */
  async revokeForAccount(organizationId: string, userId: string): Promise<void> {
    await this.db.query(sql`
      UPDATE invites SET revoked_at = now()
      WHERE organization_id = ${organizationId} AND scope = 'account' AND target_id = ${userId}
        AND accepted_at IS NULL AND revoked_at IS NULL`);
  }

  /** Where a person opens a token or code. */
  joinUrl(secret: string): string {
    const base = this.env.get('APP_URL') ?? this.env.get('PUBLIC_URL') ?? `http://localhost:${this.env.get('PORT')}`;
    return `${base}/join/${secret}`;
  }

  private lifetimeDays({ email }: NewInvite): number {
    return email ? this.env.get('INVITE_TTL_DAYS') : this.env.get('LINK_TTL_DAYS');
  }
}

/** SHA-256: of 256 random bits a fast hash gives nothing away; codes are guarded by rate limits where they are entered. */
export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

export function newCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join('');
}
