import { Injectable } from '@nestjs/common';
import type { KeyEmailKind, KeyInMail } from '@app/jobs';
import { ManagerNotices } from '@app/people';

/** Mails about API keys, to everyone who manages the organization. */
@Injectable()
export class KeyNotices {
  constructor(private readonly managers: ManagerNotices) {}

  /** See {@link ManagerNotices.able}. */
  get able(): boolean {
    return this.managers.able;
  }

  /** Queues a mail to every owner and admin, whoever of them did it. @param by null for the operator */
  async tell(organizationId: string, kind: KeyEmailKind, by: string | null, key: Omit<KeyInMail, 'by'>): Promise<void> {
    const about = (nameOf: (id: string | null) => string | null) => ({ key: { ...key, by: nameOf(by) } });
    await this.managers.tell(organizationId, { kind, page: '/keys', about });
  }
}
