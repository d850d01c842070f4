import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env, newToken, Vault } from '@app/config';
import { Database, normalizeEmail, type Tables, type Tenant } from '@app/database';
import type { EmailLink } from '@app/jobs';
import { placesOf } from './code-places.js';
import { hashOfSecret, newCode } from './invite-secrets.js';

/** What an invite is for. */
export interface NewInvite {
  scope: Tables['invites']['scope'];
  role: Tables['invites']['role'];
  targetId: string;
  subjectId?: string | null;
  /** The only recipient. Without one, the invite can be shared. */
  email?: string | null;
  /** A short code to type instead of a token in a link. */
  code?: boolean;
  /** The link is mailed, with a second secret that proves the address. */
  mailed?: boolean;
  apiKeyId?: string | null;
  /** Who made it in the portal. */
  createdBy?: string | null;
}

/** An invite with its secret, which is shown only once. */
export interface MintedInvite extends NewInvite {
  id: string;
  /** Token or code. */
  secret: string;
  /** Goes only into the mail. */
  proof: string | null;
  expiresAt: Date;
  createdAt: Date;
}

/** The roles of an organization's two permanent join codes. */
const PERMANENT_CODE_ROLES = ['student', 'tutor'] as const;
export type PermanentCodeRole = (typeof PERMANENT_CODE_ROLES)[number];

/** A permanent code that was just made. */
export interface PermanentCode {
  id: string;
  role: PermanentCodeRole;
  code: string;
}

const DAY_MS = 86_400_000;

/** Creates and stores invites. Only hashes of tokens and codes are stored, besides the encrypted codes that records show. */
@Injectable()
export class Invites {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly vault: Vault,
  ) {}

  /** Creates invites inside the ambient transaction, in one statement. */
  async mint(organizationId: string, wanted: NewInvite[]): Promise<MintedInvite[]> {
    const minted = this.prepare(wanted);
    await this.store(organizationId, minted);
    return minted;
  }

  /** Prepares invites with their secrets, which are valid once stored. */
  prepare(wanted: NewInvite[]): MintedInvite[] {
    const createdAt = new Date();
    return wanted.map((invite) => ({
      ...invite,
      id: uuidv7(),
      secret: invite.code ? newCode() : newToken(),
      proof: invite.mailed ? newToken() : null,
      expiresAt: new Date(createdAt.getTime() + this.lifetimeDays(invite) * DAY_MS),
      createdAt,
    }));
  }

  /** Stores prepared invites inside the ambient transaction. */
  async store(organizationId: string, minted: MintedInvite[]): Promise<void> {
    if (minted.length === 0) return;
    const addresses = minted.map(({ email }) => (email ? normalizeEmail(email) : null));
    await this.db.query(sql`
      INSERT INTO invites (id, organization_id, scope, role, target_id, subject_id, email, user_id, secret_hash, proof_hash,
        sealed, api_key_id, created_by, expires_at, created_at, places)
      SELECT i.id, ${organizationId}, scope, role, target_id, subject_id, i.email, l.id, secret_hash, proof_hash,
        sealed, api_key_id, created_by, expires_at, created_at, places
      FROM unnest(
        ${minted.map(({ id }) => id)}::uuid[], ${minted.map(({ scope }) => scope)}::text[],
        ${minted.map(({ role }) => role)}::text[], ${minted.map(({ targetId }) => targetId)}::uuid[],
        ${minted.map(({ subjectId }) => subjectId ?? null)}::uuid[], ${minted.map(({ email }) => email ?? null)}::text[],
        ${addresses}::text[], ${minted.map(({ secret }) => this.hashOf(secret))}::bytea[],
        ${minted.map(({ proof }) => proof && this.hashOf(proof))}::bytea[], ${minted.map((invite) => this.sealedOf(invite))}::bytea[],
        ${minted.map(({ apiKeyId }) => apiKeyId ?? null)}::uuid[], ${minted.map(({ createdBy }) => createdBy ?? null)}::uuid[],
        ${minted.map(({ expiresAt }) => expiresAt.toISOString())}::timestamptz[],
        ${minted.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[],
        ${minted.map(placesOf)}::integer[]
      ) AS i (id, scope, role, target_id, subject_id, email, address, secret_hash, proof_hash, sealed, api_key_id,
        created_by, expires_at, created_at, places)
      LEFT JOIN logins_by_email(${addresses}) l ON l.email = i.address`);
  }

  /** Runs {@link addPermanentCodes} in its own transaction. @returns whether a code was created */
  ensurePermanentCodes(organizationId: string): Promise<boolean> {
    return this.db.transaction({ organizationId }, async () => {
      return (await this.addPermanentCodes(organizationId)).length > 0;
    });
  }

  /**
   * Creates the missing permanent codes for students and tutors inside the ambient transaction; one that was switched off
   * is not missing. Without ENCRYPTION_KEY, does nothing: the worker, which has the key, creates them later.
   */
  async addPermanentCodes(organizationId: string, createdBy: string | null = null): Promise<PermanentCode[]> {
    if (!this.env.get('ENCRYPTION_KEY')) return [];
    const codes = PERMANENT_CODE_ROLES.map((role) => ({ id: uuidv7(), role, code: newCode() }));
    // RETURNING needs no right to read but that to the id, which is all that the worker has.
    const made = await this.db.query<{ id: string }>(sql`
      INSERT INTO invites (id, organization_id, scope, role, target_id, secret_hash, standing, sealed, created_by)
      SELECT id, ${organizationId}, 'organization', role, ${organizationId}, secret_hash, true, sealed, ${createdBy}::uuid
      FROM unnest(
        ${codes.map(({ id }) => id)}::uuid[], ${codes.map(({ role }) => role)}::text[],
        ${codes.map(({ code }) => this.hashOf(code))}::bytea[],
        ${codes.map(({ code }) => this.vault.seal('join codes', code))}::bytea[]
      ) AS c (id, role, secret_hash, sealed)
      ON CONFLICT DO NOTHING RETURNING id`);
    return codes.filter(({ id }) => made.some((row) => row.id === id));
  }

  /**
   * Replaces the permanent codes that are not switched off inside the ambient transaction. The old ones stop working when
   * it commits.
   */
  async replacePermanentCodes(organizationId: string, createdBy: string | null = null): Promise<PermanentCode[]> {
    await this.db.query(sql`
      UPDATE invites SET revoked_at = now() WHERE organization_id = ${organizationId} AND standing AND revoked_at IS NULL`);
    return this.addPermanentCodes(organizationId, createdBy);
  }

  /**
   * The organization's permanent codes; null for one that does not exist yet, or that was encrypted with an earlier
   * ENCRYPTION_KEY: it still works but cannot be shown.
   */
  async permanentCodes(tenant: Tenant): Promise<Record<PermanentCodeRole, string | null>> {
    const [rows] = await this.db.read<[{ role: PermanentCodeRole; sealed: Buffer }]>(
      tenant,
      sql`SELECT role, sealed FROM invites
        WHERE organization_id = ${tenant.organizationId} AND standing AND revoked_at IS NULL`,
    );
    const sealed = new Map(rows.map((row) => [row.role, row.sealed]));
    const open = (role: PermanentCodeRole) => this.codeOf(sealed.get(role) ?? null);
    return { student: open('student'), tutor: open('tutor') };
  }

  /** The code that was sealed with an invite; null without one, or if it was sealed with an earlier ENCRYPTION_KEY. */
  codeOf(sealed: Buffer | null): string | null {
    try {
      return sealed && this.vault.open('join codes', sealed);
    } catch {
      return null;
    }
  }

  /** The stored hash of a secret. */
  hashOf(secret: string): Buffer {
    return hashOfSecret(secret, this.vault);
  }

  /** The link of an invite in its mail. */
  linkOf({ id, secret, proof, expiresAt }: MintedInvite): EmailLink {
    return { url: this.joinUrl(secret), inviteId: id, proof, expiresAt };
  }

  /** The URL at which a person opens a token or code. */
  joinUrl(secret: string): string {
    return `${this.env.portalUrl}/join/${secret}`;
  }

  /** The code of a classroom is part of its record, so it is kept, encrypted. */
  private sealedOf({ scope, email, secret }: MintedInvite): Buffer | null {
    return scope === 'classroom' && !email ? this.vault.seal('join codes', secret) : null;
  }

  private lifetimeDays({ email, scope }: NewInvite): number {
    return email || scope === 'parent' ? this.env.get('INVITE_TTL_DAYS') : this.env.get('LINK_TTL_DAYS');
  }
}
