import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env, Vault } from '@app/config';
import { type CredentialEmailKind, type Email, type EmailSender, sealEmail, type SignInInMail } from '@app/jobs';
import { ownSender } from './own-sender.js';

/** Notifies people of changes and uses of their password and passkeys, with a way back in if it wasn't them. */
@Injectable()
export class CredentialNotices {
  constructor(
    private readonly env: Env,
    private readonly vault: Vault,
  ) {}

  /** SQL that queues the mail within the statement that makes the change, so that both happen or neither does. */
  mail(kind: Exclude<CredentialEmailKind, 'welcome'>, loginId: Sql | string, signIn?: SignInInMail): Sql {
    const about = { kind, firstName: null, role: 'admin', ...(signIn && { signIn }) } as const;
    // Who deletes their account knows how to get in; who does not know of it first needs a password of their own.
    return this.queue(
      ownSender(this.env),
      loginId,
      kind === 'account_deletion' ? '/account/delete' : '/forgot-password',
      about,
    );
  }

  /** The same for somebody who has joined and chosen their first password or passkey: the organization welcomes them. */
  welcome(organization: EmailSender, loginId: string, firstName: string, role: Email['role']): Sql {
    return this.queue(organization, loginId, '/', { kind: 'welcome', firstName, role });
  }

  private queue(
    sender: EmailSender,
    loginId: Sql | string,
    page: string,
    about: Pick<Email, 'firstName' | 'role' | 'signIn'> & { kind: CredentialEmailKind },
  ): Sql {
    if (this.env.get('SMTP_URL') === null) return sql`NULL`;
    const link = { url: `${this.env.portalUrl}${page}` };
    const content = sealEmail(this.vault, sender, { ...about, to: '', link });
    return sql`mail_credential_notice(${loginId}, ${about.kind}, ${uuidv7()}, ${content})`;
  }
}
