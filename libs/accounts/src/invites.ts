import { createHash, randomBytes, randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env } from '@app/config';
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
  ) {}

  /** Makes invites inside the ambient transaction, in one statement however many. */
  async mint(organizationId: string, wanted: NewInvite[]): Promise<MintedInvite[]> {
    if (wanted.length === 0) return [];
    const createdAt = new Date();
    const minted = wanted.map((invite) => ({
      ...invite,
      id: uuidv7(),
      secret: invite.code ? newCode() : newToken(),
      expiresAt: new Date(createdAt.getTime() + this.lifetimeDays(invite) * DAY_MS),
      createdAt,
    }));
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
        ${minted.map(() => createdAt.toISOString())}::timestamptz[]
      ) AS i (id, scope, role, target_id, subject_id, email, secret_hash, api_key_id, expires_at, created_at)`);
    return minted;
  }

  /** Where a person opens a token or code. */
  joinUrl(secret: string): string {
    return `${this.env.get('APP_URL') ?? this.env.get('PUBLIC_URL') ?? `http://localhost:${this.env.get('PORT')}`}/join/${secret}`;
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
