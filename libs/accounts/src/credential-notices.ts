import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env, Vault } from '@app/config';
import { type CredentialEmailKind, sealEmail, type SignInInMail } from '@app/jobs';
import { ownSender } from './own-sender.js';

/** Notifies people of changes and uses of their password and passkeys, with a way back in if it wasn't them. */
@Injectable()
export class CredentialNotices {
  constructor(
    private readonly env: Env,
    private readonly vault: Vault,
  ) {}

  /** SQL that queues the mail within the statement that makes the change, so that both happen or neither does. */
  mail(kind: CredentialEmailKind, loginId: Sql | string, signIn?: SignInInMail): Sql {
    if (this.env.get('SMTP_URL') === null) return sql`NULL`;
    const link = { url: `${this.env.portalUrl}/forgot-password` };
    const email = { kind, to: '', firstName: null, role: 'admin', link, ...(signIn && { signIn }) } as const;
    const content = sealEmail(this.vault, ownSender(this.env), email);
    return sql`mail_credential_notice(${loginId}, ${kind}, ${uuidv7()}, ${content})`;
  }
}
