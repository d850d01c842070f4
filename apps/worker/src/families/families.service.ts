import { Process, Processor } from '@nestjs/bull';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { Evenings, type FamilySwitch, LessonNews, Reminders } from '@app/families';
import { Log } from '@app/logging';

/** Transactions for one organization in a round; the next round goes on. */
const MOST_PORTIONS = 20;

interface Work {
  organizationId: string;
  kinds: FamilySwitch[];
  zone: string;
  news: boolean;
  evening: boolean;
  reminders: boolean;
}

/** Queues what organizations mail by themselves: news of lessons, the lessons of tomorrow, reminders. */
@Processor('families')
export class FamiliesService {
  constructor(
    private readonly db: Database,
    private readonly news: LessonNews,
    private readonly evenings: Evenings,
    private readonly reminders: Reminders,
    private readonly log: Log,
  ) {}

  @Process('round')
  async runOnce(): Promise<void> {
    const all = await this.db.lookUp<Work>(sql`
      SELECT organization_id AS "organizationId", kinds, time_zone AS zone, news, evening, reminders FROM family_work()`);
    for (const { organizationId, kinds, zone, news, evening, reminders } of all) {
      if (news) await this.each(() => this.news.gather(organizationId, kinds));
      if (evening) await this.each(() => this.evenings.gather(organizationId, zone));
      if (reminders) await this.each(() => this.reminders.gather(organizationId, zone));
    }
  }

  /** @param gather returns whether there is more. One organization's fault is no other's */
  private async each(gather: () => Promise<boolean>): Promise<void> {
    try {
      for (let portion = 0; portion < MOST_PORTIONS; portion++) if (!(await gather())) return;
    } catch (error) {
      this.log.failure(error, null, 'family_mails_failed');
    }
  }
}
