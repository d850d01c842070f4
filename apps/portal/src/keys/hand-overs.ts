import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import sql from 'sql-template-tag';
import { decrypt, encrypt, Vault } from '@app/config';
import { Database } from '@app/database';
import { Cookies } from '../web/cookies.js';

/**
 * Hands a new key over from the form that creates it to the page that shows it once. In between it is encrypted with a key derived from the
 * session cookie and ENCRYPTION_KEY. The database has neither.
 */
@Injectable()
export class HandOvers {
  constructor(
    private readonly db: Database,
    private readonly vault: Vault,
    private readonly cookies: Cookies,
  ) {}

  /** Stores the key for at most five minutes, inside the ambient transaction. */
  async keep(request: Request, organizationId: string, { id, key }: { id: string; key: string }): Promise<void> {
    const sealed = encrypt(this.secretFor(request, id), key);
    await this.db.query(sql`
      INSERT INTO api_key_handovers (api_key_id, organization_id, sealed) VALUES (${id}, ${organizationId}, ${sealed})`);
  }

  /** The key, for the first request of the session that created it; null for all others. */
  async take(request: Request, organizationId: string, id: string): Promise<string | null> {
    try {
      return await this.db.transaction({ organizationId }, async () => {
        const [kept] = await this.db.query<{ sealed: Buffer }>(sql`
          WITH taken AS (
            DELETE FROM api_key_handovers
            WHERE organization_id = ${organizationId} AND api_key_id = ${id} AND expires_at > now() RETURNING sealed)
          SELECT sealed FROM taken`);
        // A session that cannot decrypt the key must not remove it either: roll the transaction back.
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

/** A colleague opened the page, or this browser has signed in again. */
class NotTheirs extends Error {}
