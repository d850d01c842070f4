import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, SESSION } from '@app/database';
import { ManagerNotices } from './manager-notices.js';
import { type OrganizationChange, Organizations } from './organizations.js';

/** As mails name them. */
const LABELS: Record<string, string> = {
  name: 'Name',
  time_zone: 'Time zone',
  currency: 'Currency',
  payment_terms_days: 'Days to pay',
};

/** What a key changes of its organization. */
@Injectable()
export class OrganizationSettings {
  constructor(
    private readonly db: Database,
    private readonly organizations: Organizations,
    private readonly notices: ManagerNotices,
  ) {}

  /**
   * Owners are told, in full. Sessions keep their instant.
   *
   * @returns the columns that changed, and how many sessions ahead are at another time by the clocks of the new zone
   * @throws Refused for an invalid value, and another currency once there is money
   */
  async change(
    organizationId: string,
    keyId: string,
    wanted: OrganizationChange,
  ): Promise<{ columns: string[]; moved: number }> {
    const changes = await this.organizations.change(organizationId, wanted);
    const zone = changes.find(({ column }) => column === 'time_zone');
    const moved = zone ? await this.moved(organizationId, zone.before, zone.after) : 0;
    if (changes.length > 0) {
      const [key] = await this.db.query<{ name: string }>(sql`
        SELECT name FROM api_keys WHERE organization_id = ${organizationId} AND id = ${keyId}`);
      const settings = {
        by: `The API key ${key!.name}`,
        changes: changes.map(({ column, before, after }) => ({ name: LABELS[column] ?? column, before, after })),
      };
      const notice = { kind: 'settings_changed', page: '/settings', owners: true } as const;
      await this.notices.tell(organizationId, { ...notice, about: () => ({ settings }) });
    }
    return { columns: changes.map(({ column }) => column), moved };
  }

  private async moved(organizationId: string, before: string, after: string): Promise<number> {
    const [row] = await this.db.query<{ moved: number }>(sql`
      SELECT count(*)::integer AS moved FROM sessions WHERE organization_id = ${organizationId} AND starts_at > now()
        AND status = ANY (${SESSION.allowed('cancel')}) AND starts_at AT TIME ZONE ${before} <> starts_at AT TIME ZONE ${after}`);
    return row!.moved;
  }
}
