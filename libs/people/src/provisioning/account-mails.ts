import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Env } from '@app/config';
import { type Admission, type Email, type EmailKind, Outbox } from '@app/jobs';
import { Invites, type MintedInvite } from '../invites/invites.js';
import type { Provisioner } from './people.js';

/** A mail with a link for somebody whom the organization provisioned. */
export interface AccountMail {
  kind: EmailKind;
  role: MintedInvite['role'];
  /** The login's id. */
  id: string;
  to: string;
  firstName: string | null;
  waits?: boolean;
}

/** Mails that inform people of their accounts. */
@Injectable()
export class AccountMails {
  constructor(
    private readonly invites: Invites,
    private readonly outbox: Outbox,
    private readonly env: Env,
  ) {}

  /** Which mails to these addresses may go out: see {@link Outbox.admission}. @param locked whether the addresses are locked */
  admission(by: Provisioner, addresses: string[], locked = false): Promise<Admission> {
    return this.outbox.admission(by.organizationId, addresses, null, { locked });
  }

  /** Queues mails inside the ambient transaction. @returns ids of those whose mail was queued */
  async queue(by: Provisioner, mails: AccountMail[]): Promise<Set<string>> {
    const admit = await this.admission(by, mails.map(({ to }) => to)); // prettier-ignore
    const admitted = admit(mails);
    await this.queueAdmitted(by, admitted);
    return new Set(admitted.map(({ id }) => id));
  }

  /**
   * Asks somebody who has joined for a proof of their address. Strangers with a code cannot use up the organization's
   * invitations by this.
   *
   * @returns whether a mail was queued
   */
  async confirm(by: Provisioner, mail: Omit<AccountMail, 'kind'>): Promise<boolean> {
    const admit = await this.outbox.admission(by.organizationId, [mail.to], null, { confirmations: true });
    const admitted = admit([{ ...mail, kind: 'join_confirmation' as const }]);
    await this.queueAdmitted(by, admitted);
    return admitted.length > 0;
  }

  /** Queues mails that their {@link admission} let through. */
  async queueAdmitted(by: Provisioner, mails: AccountMail[]): Promise<void> {
    if (mails.length === 0) return;
    // Send earlier queries first, so that the database processes them while secrets are created and encrypted.
    await setImmediate();
    const minted = this.invites.prepare(
      mails.map(({ role, id: targetId, to: email }) => {
        return { scope: 'account', role, targetId, email, mailed: true, apiKeyId: by.keyId };
      }),
    );
    const emails = mails.map((mail, index) => ({ ...mail, link: this.invites.linkOf(minted[index]!) }));
    await Promise.all([this.invites.store(by.organizationId, minted), this.outbox.addAdmitted(by, emails)]);
  }

  /** Queues the notices that their {@link admission} allows. @param path the portal's page to continue on */
  async notify(
    by: Provisioner,
    kind: EmailKind,
    role: Email['role'],
    people: ({ to: string; firstName: string | null } & Pick<Email, 'membership'>)[],
    path: string | null = null,
  ): Promise<void> {
    const link = path === null ? null : { url: `${this.env.portalUrl}${path}` };
    const emails = people.map((person) => ({ ...person, kind, role, link }));
    await this.outbox.addEmails(by, emails, kind);
  }
}
