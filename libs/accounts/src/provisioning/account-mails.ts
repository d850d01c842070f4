import { Injectable } from '@nestjs/common';
import { type EmailKind, Outbox } from '@app/jobs';
import { normalizeEmail } from '../email.js';
import { Invites } from '../invites.js';
import type { Provisioner } from './people.js';

/** A mail with a link into an organization, to somebody whom it provisioned. */
export interface AccountMail {
  kind: EmailKind;
  role: 'student' | 'tutor' | 'parent';
  /** Of the login. */
  id: string;
  to: string;
  firstName: string | null;
}

/** Mails with which people learn of their accounts. */
@Injectable()
export class AccountMails {
  constructor(
    private readonly invites: Invites,
    private readonly outbox: Outbox,
  ) {}

  /** Queues mails inside the ambient transaction. @returns ids of those whose mail was queued */
  async queue(by: Provisioner, mails: AccountMail[]): Promise<Set<string>> {
    if (mails.length === 0 || !this.outbox.sendsMail) return new Set();
    const minted = await this.invites.mint(
      by.organizationId,
      mails.map(({ role, id, to }) => ({ scope: 'account', role, targetId: id, email: to, apiKeyId: by.keyId })),
    );
    const queued = await this.outbox.addEmails(
      by.organizationId,
      mails.map(({ kind, role, to, firstName }, index) => ({
        kind,
        to,
        payload: {
          organizationName: by.organization.name,
          firstName,
          role,
          joinUrl: this.invites.joinUrl(minted[index]!.secret),
          expiresAt: minted[index]!.expiresAt.toISOString(),
        },
      })),
    );
    return new Set(mails.filter(({ to }) => queued.has(normalizeEmail(to))).map(({ id }) => id));
  }
}
