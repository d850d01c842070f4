import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, KEPT, type KeptKind, type KeptName } from '@app/database';
import { Refused } from '@app/rules';

/** A kind of records, and whether an organization has them deleted. */
export interface Kept extends Pick<KeptKind, 'label' | 'says'> {
  kind: KeptName;
  /** After how many months they are deleted; null if they stay. */
  after: number | null;
  since: Date | null;
  /** The months that the number is of: those asked about, else those that are set, else the recommended ones. */
  months: number;
  /** What is older, and would go now. */
  rows: number;
  oldest: Date | null;
}

const MOST_MONTHS = 120;

const isKind = (kind: string): kind is KeptName => kind in KEPT;

/** What an organization has deleted once it is old: see KEPT. Owners decide; the worker deletes. */
@Injectable()
export class Retention {
  constructor(private readonly db: Database) {}

  /** All kinds, with what would go now. @param asked months to count with instead, of one kind */
  async list(organizationId: string, asked: { kind: string; months: string }): Promise<Kept[]> {
    const kinds = Object.entries<KeptKind>(KEPT);
    const recommended = kinds.map(([, { months }]) => months);
    const [rows] = await this.db.read<[Omit<Kept, 'label' | 'says'>]>(
      { organizationId },
      sql`SELECT k.kind, s.months AS after, s.created_at AS since, m.months, d.rows::float8 AS rows, d.oldest
        FROM unnest(${kinds.map(([kind]) => kind)}::text[], ${recommended}::integer[]) WITH ORDINALITY k (kind, months, place)
        LEFT JOIN retention_settings s ON s.organization_id = ${organizationId} AND s.kind = k.kind
        CROSS JOIN LATERAL (SELECT coalesce(CASE k.kind WHEN ${asked.kind} THEN ${monthsOf(asked.months)}::integer END,
          s.months, k.months) AS months) m
        CROSS JOIN LATERAL retention_due(k.kind, m.months) d ORDER BY k.place`,
    );
    return rows.map((row) => ({ ...row, label: KEPT[row.kind].label, says: KEPT[row.kind].says }));
  }

  /** Inside the ambient transaction. @throws Refused for an unknown kind, and for months beyond the bounds */
  async switchOn(organizationId: string, kind: string, asked: string) {
    const months = monthsOf(asked);
    if (!isKind(kind)) throw Refused.notFound();
    if (!months) throw Refused.invalid(`Give 1 to ${MOST_MONTHS} months.`, 'months');
    const changed = await this.db.count(sql`
      INSERT INTO retention_settings AS s (organization_id, kind, months) VALUES (${organizationId}, ${kind}, ${months})
      ON CONFLICT (organization_id, kind) DO UPDATE SET months = excluded.months, created_at = now()
      WHERE s.months <> excluded.months`);
    return { changed: changed > 0, audit: { kind, months } };
  }

  /** Inside the ambient transaction: from the commit on nothing more goes. @throws Refused for an unknown kind */
  async switchOff(organizationId: string, kind: string) {
    if (!isKind(kind)) throw Refused.notFound();
    const changed = await this.db.count(
      sql`DELETE FROM retention_settings WHERE organization_id = ${organizationId} AND kind = ${kind}`,
    );
    return { changed: changed > 0, audit: { kind } };
  }
}

function monthsOf(text: string): number | null {
  const months = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return months >= 1 && months <= MOST_MONTHS ? months : null;
}
