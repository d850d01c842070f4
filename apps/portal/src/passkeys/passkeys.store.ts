import { Injectable } from '@nestjs/common';
import type { WebAuthnCredential } from '@simplewebauthn/server';
import type { Request } from 'express';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import type { NewPasskey } from '@app/accounts';
import { Database } from '@app/database';
import { Sessions } from '../web/sessions.js';

/** A passkey, as its person sees it. */
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

/** Passkeys in the database: those of whoever is signed in, and the one that a browser signs in with. */
@Injectable()
export class PasskeyStore {
  constructor(
    private readonly db: Database,
    private readonly sessions: Sessions,
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

  /** False when somebody has it already, or the person has too many. */
  add(request: Request, { credentialId, publicKey, counter, transports, name }: NewPasskey): Promise<boolean> {
    return this.ask(sql`
      SELECT add_passkey(${this.sessions.secretOf(request)}, ${uuidv7()}, ${credentialId}, ${publicKey}, ${counter},
        ${transports}::text[], ${name}) AS done`);
  }

  rename(request: Request, id: string, name: string): Promise<boolean> {
    return this.ask(sql`SELECT rename_passkey(${this.sessions.secretOf(request)}, ${id}, ${name}) AS done`);
  }

  remove(request: Request, id: string): Promise<boolean> {
    return this.ask(sql`SELECT remove_passkey(${this.sessions.secretOf(request)}, ${id}) AS done`);
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

  /** Notes a use. False when another one with this counter came first: the passkey was copied. */
  use(id: string, counter: number): Promise<boolean> {
    return this.ask(sql`SELECT use_passkey(${id}, ${counter}) AS done`);
  }

  private async ask(statement: ReturnType<typeof sql>): Promise<boolean> {
    const [row] = await this.db.lookUp<{ done: boolean }>(statement);
    return row!.done;
  }
}
