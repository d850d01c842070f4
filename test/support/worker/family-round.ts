import { EventsService } from '../../../apps/worker/src/events/events.service.js';
import { FamiliesService } from '../../../apps/worker/src/families/families.service.js';
import type { FamilyPost } from './family-post.js';
import type { Received } from './smtp.js';

/** A mail as its reader sees it. */
export interface Told {
  to: string;
  subject: string;
  /** What it lists. */
  lines: string[];
  mail: Received;
}

/** A zone where it is this hour now. */
export const zoneAt = (hour: number) => {
  const ahead = ((hour - new Date().getUTCHours() + 36) % 24) - 12;
  return ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
};

/** What the worker does of its own accord: it looks at what has happened, and sends what is due. */
export class FamilyRound {
  constructor(private readonly post: FamilyPost) {}

  /** Looks at what has happened, and queues mails. */
  async look(): Promise<void> {
    await this.post.service(EventsService).runOnce();
    await this.post.service(FamiliesService).runOnce();
  }

  /** Ten minutes pass for what is gathered. */
  async later(): Promise<void> {
    const { make } = this.post.api;
    await make.query(`UPDATE outbox SET due_at = now() - interval '1 second' WHERE kind = 'lesson_news' AND status = 'queued'`);
    await make.query(`UPDATE lesson_tellings SET mail_at = now() - interval '1 second' WHERE mail_at > now()`);
  }

  /** @returns the mails that are due now */
  async sent(): Promise<Told[]> {
    await this.post.deliver();
    return this.post.received().map((mail) => ({
      to: mail.to,
      subject: mail.headers.subject!,
      lines: [...mail.text.matchAll(/^- (.*)$/gm)].map(([, line]) => line!),
      mail,
    }));
  }

  /** Looks, waits for what is gathered, and sends. */
  async pass(): Promise<Told[]> {
    await this.look();
    await this.later();
    return this.sent();
  }
}
