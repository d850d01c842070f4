import { Injectable } from '@nestjs/common';
import type { WebAuthnCredential } from '@simplewebauthn/server';
import type { Request } from 'express';
import sql, { type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { CredentialNotices, type NewPasskey } from '@app/accounts';
import { Database } from '@app/database';
import type { CredentialEmailKind } from '@app/jobs';
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
    const rows = await this.db.lookUp<{
      id: string;
      credential_id: Buffer;
      name: string;
      created_at: Date;
      last_used_at: Date | null;
    }>(sql`SELECT * FROM list_passkeys(${this.sessions.secretOf(request)})`);
    return rows.map(({ id, credential_id, name, created_at, last_used_at }) => {
      const credentialId = credential_id.toString('base64url');
      return { id, credentialId, name, createdAt: created_at, lastUsedAt: last_used_at };
    });
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
      user_id: string;
      public_key: Buffer;
      sign_count: string;
      transports: string[];
    }>(sql`SELECT * FROM passkey_by_credential(${Buffer.from(credentialId, 'base64url')})`);
    if (!row) return null;
    const { id, user_id: userId, public_key: key, sign_count: counter, transports } = row;
    const publicKey = Uint8Array.from(key);
    const credential = { id: credentialId, publicKey, counter: Number(counter), transports };
    return { id, userId, credential: credential };
  }

  /** Records a use. @returns false if this counter was used before, because the passkey was copied */
  use(id: string, counter: number): Promise<boolean> {
    return this.ask(sql`SELECT use_passkey(${id}, ${counter}) AS done`);
  }

  /** Makes a change and mails the person if it took effect. */
  private change(request: Request, kind: CredentialEmailKind, work: Sql): Promise<boolean> {
    const notice = this.notices.mail(kind, request.session!.userId);
    return this.ask(sql`SELECT d.done, CASE WHEN d.done THEN ${notice} END FROM (SELECT ${work} AS done) d`);
  }

  private async ask(statement: Sql): Promise<boolean> {
    const [row] = await this.db.lookUp<{ done: boolean }>(statement);
    return row!.done;
  }
}
