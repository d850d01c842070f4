import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import sql from 'sql-template-tag';
import { decrypt, encrypt, Vault } from '@app/config';
import { Database } from '@app/database';
import { Cookies } from '../web/cookies.js';

/**
 * Takes a new key from the form that makes it to the page that shows it, so that the form can be sent twice and the page
 * be reloaded: two requests make one key, and it is shown once. In between the key is encrypted with what only the
 * browser's session cookie and ENCRYPTION_KEY give together: the database holds neither, only the cookie's hash.
 */
@Injectable()
export class HandOvers {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
    private readonly cookies: Cookies,
  ) {}

  /** Keeps the key for five minutes at most, inside the ambient transaction. */
  async keep(request: Request, organizationId: string, { id, key }: { id: string; key: string }): Promise<void> {
    const sealed = encrypt(this.secretFor(request, id), key);
    await this.db.query(sql`
      INSERT INTO api_key_handovers (api_key_id, organization_id, sealed) VALUES (${id}, ${organizationId}, ${sealed})`);
  }

  /** The key, for the first who asks with the session that made it; null for everybody else. */
  async take(request: Request, organizationId: string, id: string): Promise<string | null> {
    try {
      return await this.db.transaction({ organizationId }, async () => {
        const [kept] = await this.db.query<{ sealed: Buffer }>(sql`
          WITH taken AS (
            DELETE FROM api_key_handovers
            WHERE organization_id = ${organizationId} AND api_key_id = ${id} AND expires_at > now() RETURNING sealed)
          SELECT sealed FROM taken`);
        // What another session cannot open, it does not take away either: the transaction is undone.
        return kept ? this.open(request, id, kept.sealed) : null;
      });
    } catch (error) {
      if (error instanceof NotTheirs) return null;
      throw error;
    }
  }

  private open(request: Request, id: string, sealed: Buffer): string {
    try {
      return decrypt(this.secretFor(request, id), sealed);
    } catch {
      throw new NotTheirs();
    }
  }

  private secretFor(request: Request, id: string): Buffer {
    const session = this.cookies.get(request, 'session') ?? '';
    return Buffer.from(hkdfSync('sha256', session, this.vault.derive('API key hand-overs'), id, 32));
  }
}

/** A colleague has opened the page, or this browser has signed in again. */
class NotTheirs extends Error {}
