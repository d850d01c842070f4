import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env, Vault } from '@app/config';
import { Database, normalizeEmail } from '@app/database';
import { sealEmail } from '@app/jobs';
import { hashPassword } from './joining/passwords.js';

const HOUR = 3_600_000;
/** Of a link that somebody has asked for, and of one that the operator hands out (ms). */
const ASKED_FOR = HOUR;
const HANDED_OUT = 7 * 24 * HOUR;

/** Links with which people set their password. They prove the address: whoever has one reads its mail. */
@Injectable()
export class PasswordLinks {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly vault: Vault,
  ) {}

  /** Mails a link to the login with this address. A known and an unknown address cost the same work. */
  async mail(address: string): Promise<void> {
    const { secret, url, expiresAt } = this.make(ASKED_FOR);
    const content = sealEmail(
      this.vault,
      { name: nameOfSender(this.env.get('MAIL_FROM')), timeZone: 'UTC' },
      { kind: 'password_reset', to: address, firstName: null, role: 'admin', link: { url, expiresAt } },
    );
    await this.db.lookUp(sql`
      SELECT mail_password_link(${normalizeEmail(address)}, ${hashOf(secret)}, ${`${ASKED_FOR} ms`}::interval,
        ${uuidv7()}, ${content})`);
  }

  /** A link for somebody whom the operator vouches for. As the owner of the database. */
  async handOut(userId: string): Promise<{ url: string; expiresAt: Date }> {
    const { secret, url, expiresAt } = this.make(HANDED_OUT);
    await this.db.lookUp(sql`SELECT add_password_link(${hashOf(secret)}, ${userId}, ${`${HANDED_OUT} ms`}::interval)`);
    return { url, expiresAt };
  }

  /** Whose password the link sets; null when it is used, expired or unknown. Looking changes nothing. */
  async look(secret: string): Promise<{ email: string } | null> {
    const [row] = await this.db.lookUp<{ email: string }>(sql`SELECT email FROM password_link(${hashOf(secret)})`);
    return row ?? null;
  }

  /**
   * Sets the password, once; every session of the login ends.
   *
   * @returns the login and what opens it; null when the link opens nothing any more
   */
  async use(secret: string, password: string): Promise<{ userId: string; passwordHash: string } | null> {
    const passwordHash = await hashPassword(password);
    const [row] = await this.db.lookUp<{ id: string | null }>(
      sql`SELECT use_password_link(${hashOf(secret)}, ${passwordHash}) AS id`,
    );
    return row?.id ? { userId: row.id, passwordHash } : null;
  }

  private make(life: number): { secret: string; url: string; expiresAt: Date } {
    const secret = randomBytes(32).toString('base64url');
    const url = `${this.env.portalUrl}/password/${secret}`;
    return { secret, url, expiresAt: new Date(Date.now() + life) };
  }
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** The service's own name, for a mail that no organization sends. */
function nameOfSender(from: string): string {
  return /^\s*"?([^"<]+?)"?\s*</.exec(from)?.[1] ?? 'Tutoring';
}
