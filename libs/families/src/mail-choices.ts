import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, VALUES } from '@app/database';

export const CHOICES = VALUES.mail_opt_outs.kind;

/** What somebody can switch off for their address. */
export type Choice = (typeof CHOICES)[number];

/** Where the link at the end of a mail leads. */
export interface MailChoice {
  organization: string;
  address: string;
  off: Choice[];
}

/** What the link at the end of a mail changes. It needs no sign-in, and can do nothing else. */
@Injectable()
export class MailChoices {
  constructor(private readonly db: Database) {}

  /** @returns null for a link that leads nowhere */
  async of(token: string): Promise<MailChoice | null> {
    const [row] = await this.db.lookUp<MailChoice>(sql`SELECT organization, address, off FROM mail_choice(${token})`);
    return row ?? null;
  }

  /** Switches these off, and the others on. @returns false for a link that leads nowhere, and while its organization is being moved */
  async change(token: string, off: Choice[]): Promise<boolean> {
    const [row] = await this.db.lookUp<{ done: boolean }>(sql`SELECT choose_mail(${token}, ${off}) AS done`);
    return row!.done;
  }
}
