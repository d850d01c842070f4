import { Injectable } from '@nestjs/common';
import type { WebAuthnCredential } from '@simplewebauthn/server';
import type { Request } from 'express';
import sql, { type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { CredentialNotices, type NewPasskey } from '@app/people';
import { Database } from '@app/database';
import { Sessions } from '../web/sessions.js';

/** A passkey, as its owner sees it. */
export interface ListedPasskey {
  id: string;
  /** base64url */
  credentialId: string;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export interface FoundPasskey {
  id: string;
  userId: string;
  credential: WebAuthnCredential;
}

/** Passkeys in the database: those of the person who is signed in, and the one that a browser signs in with. */
@Injectable()
export class PasskeyStore {
  constructor(
    private readonly db: Database,
    private readonly sessions: Sessions,
    private readonly notices: CredentialNotices,
  ) {}

  async list(request: Request): Promise<ListedPasskey[]> {
    const rows = await this.db.lookUp<Omit<ListedPasskey, 'credentialId'> & { credential: Buffer }>(sql`
      SELECT id, credential_id AS credential, name, created_at AS "createdAt", last_used_at AS "lastUsedAt"
      FROM list_passkeys(${this.sessions.secretOf(request)})`);
    return rows.map(({ credential, ...row }) => ({ ...row, credentialId: credential.toString('base64url') }));
  }

  /** @returns false if somebody already has it, or the person has too many */
  add(request: Request, { credentialId, publicKey, counter, transports, name }: NewPasskey): Promise<boolean> {
    const add = sql`add_passkey(${this.sessions.secretOf(request)}, ${uuidv7()}, ${credentialId}, ${publicKey}, ${counter},
      ${transports}::text[], ${name})`;
    return this.change(request, 'passkey_added', add);
  }

  rename(request: Request, id: string, name: string): Promise<boolean> {
    return this.ask(sql`SELECT rename_passkey(${this.sessions.secretOf(request)}, ${id}, ${name}) AS done`);
  }

  remove(request: Request, id: string): Promise<boolean> {
    const remove = sql`remove_passkey(${this.sessions.secretOf(request)}, ${id})`;
    return this.change(request, 'passkey_removed', remove);
  }

  async find(credentialId: string): Promise<FoundPasskey | null> {
    const [row] = await this.db.lookUp<{
      id: string;
      userId: string;
      key: Buffer;
      counter: string;
      transports: string[];
    }>(sql`
      SELECT id, user_id AS "userId", public_key AS key, sign_count AS counter, transports
      FROM passkey_by_credential(${Buffer.from(credentialId, 'base64url')})`);
    if (!row) return null;
    const { id, userId, key, counter, transports } = row;
    return {
      id,
      userId,
      credential: { id: credentialId, publicKey: Uint8Array.from(key), counter: Number(counter), transports },
    };
  }

  /** Records a use. @returns false if this counter was used before, because the passkey was copied */
  use(id: string, counter: number): Promise<boolean> {
    return this.ask(sql`SELECT use_passkey(${id}, ${counter}) AS done`);
  }

  /** Makes a change and mails the person if it took effect. */
  private change(request: Request, kind: 'passkey_added' | 'passkey_removed', work: Sql): Promise<boolean> {
    const notice = this.notices.mail(kind, request.session!.userId);
    return this.ask(sql`SELECT d.done, CASE WHEN d.done THEN ${notice} END FROM (SELECT ${work} AS done) d`);
  }

  private async ask(statement: Sql): Promise<boolean> {
    const [row] = await this.db.lookUp<{ done: boolean }>(statement);
    return row!.done;
  }
}
