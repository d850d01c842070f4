import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { ManagerNotices } from './manager-notices.js';

/** Owners are told of each so many payments and payouts that are taken back within a day, beyond the first ones. */
const MANY = 10;

/** Mails to owners when many payments and payouts are taken back: mistakes are rare, and money that was received can be hidden so. */
@Injectable()
export class TakenBackNotices {
  constructor(
    private readonly db: Database,
    private readonly managers: ManagerNotices,
  ) {}

  /** After each, in the ambient transaction. */
  async tell(organizationId: string): Promise<void> {
    const since = sql`organization_id = ${organizationId} AND taken_back_at > now() - interval '24 hours'`;
    const [row] = await this.db.query<{ count: number }>(sql`
      SELECT (SELECT count(*) FROM payments WHERE ${since})::integer
        + (SELECT count(*) FROM payouts WHERE taken_back AND ${since})::integer AS count`);
    const beyond = row!.count - MANY;
    if (beyond <= 0 || beyond % MANY !== 1) return;
    await this.managers.tell(organizationId, { kind: 'money_taken_back', page: '/audit', owners: true });
  }
}
