import type { Client } from 'pg';
import type { Faults } from './faults.js';
import type { Staged } from './staging.js';

/** Tables whose rows link a login to the organization. */
const TIES = new Set(['members', 'parents']);

/**
 * A file cannot consent for anybody. Whatever status it gives, an existing login becomes pending, with the personal
 * data from the files. Logins are recognized by address. The address is compared again after writing, because it
 * cannot change from then on.
 */
export class Consent {
  private constructor(
    private readonly client: Client,
    private readonly users: Staged | undefined,
  ) {}

  /** Marks people in the staged rows as pending. Call this before writing any of them. */
  static async of(client: Client, all: Staged[]): Promise<Consent> {
    const consent = new Consent(
      client,
      all.find(({ table }) => table.name === 'users'),
    );
    for (const staged of all) if (TIES.has(staged.table.name)) await consent.ask(staged);
    return consent;
  }

  private async ask({ relation, table }: Staged): Promise<void> {
    const { client, users } = this;
    const own = ['members', 'parents'].map(
      (name) => `SELECT supplied_first_name, supplied_last_name, supplied_email, supplied_phone FROM ${name}
        WHERE organization_id = current_organization_id() AND user_id = s.user_id`,
    );
    const staged =
      users && `SELECT first_name, last_name, email, phone FROM ${users.relation} u WHERE u.id = s.user_id`;
    const known = users
      ? `s.user_id IN (SELECT l.id FROM logins_by_email((SELECT array_agg(email_normalized) FROM ${users.relation})) l)
          OR s.user_id NOT IN (SELECT u.id FROM ${users.relation} u)`
      : 'true';
    // People are visible if they have accepted this organization before.
    await client.query(`
      UPDATE ${relation} t SET status = 'pending', accepted_at = NULL,
        ${table.name === 'members' ? 'archived_at = NULL,' : ''}
        supplied_first_name = coalesce(t.supplied_first_name, p.first_name),
        supplied_last_name = coalesce(t.supplied_last_name, p.last_name), supplied_email = p.email,
        supplied_phone = coalesce(t.supplied_phone, p.phone)
      FROM ${relation} s
      LEFT JOIN LATERAL (${[staged, ...own].filter(Boolean).join(' UNION ALL ')} LIMIT 1) p
        (first_name, last_name, email, phone) ON true
      WHERE t.line = s.line AND NOT EXISTS (SELECT FROM users v WHERE v.id = s.user_id) AND (${known})`);
  }

  /** Reports lines whose login got another address while they were written. */
  async check({ relation, table }: Staged, faults: Faults): Promise<void> {
    if (!this.users || !TIES.has(table.name)) return;
    const { rows } = await this.client.query<{ line: number }>(`
      SELECT u.line FROM ${relation} s JOIN ${this.users.relation} u ON u.id = s.user_id
      WHERE s.status = 'pending' AND ${this.users.table.rules.taken!.replaceAll('s.', 'u.')} ORDER BY u.line`);
    for (const { line } of rows) faults.add(this.users.table.file, line, 'email', 'is taken by another login');
  }
}
