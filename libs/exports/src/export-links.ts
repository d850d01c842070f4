import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { AuditLog } from '@app/audit';
import { TimedLinks, Vault } from '@app/config';
import { Database } from '@app/database';
import { Refused } from '@app/rules';

/** The file of an export, as it is served to an owner. */
export interface ExportFile {
  /** In the private storage. */
  path: string;
  name: string;
  contentType: string;
  size: number;
  /** Notes what has been sent of it: bytes from `start` on. */
  sent: (start: number, bytes: number) => Promise<void>;
}

/** The path of an export's file in the private storage: each worker that has begun to prepare it has its own. */
export const pathOf = (organizationId: string, id: string, tries: number) => `${organizationId}/exports/${id}-${tries}`;

/** Links for owners to the files of exports. The API serves them: the portal need not reach the storage. */
@Injectable()
export class ExportLinks {
  private readonly links: TimedLinks;

  constructor(
    private readonly db: Database,
    private readonly audit: AuditLog,
    vault: Vault,
  ) {
    this.links = new TimedLinks(vault.derive('links of owners to exports'), 3);
  }

  /** @returns the path of a link for this owner @throws Refused for an export that is not ready, and for others */
  async of(organizationId: string, userId: string, id: string): Promise<string> {
    if (!(await this.find(organizationId, userId, id))) throw Refused.notFound();
    return `/exports/${this.links.of(organizationId, id, userId)}`;
  }

  /** What a link leads to; null if it was never made, has ended, its person is no owner any more, or the file has gone. */
  async open(link: string): Promise<ExportFile | null> {
    const [organizationId, id, userId] = this.links.open(link) ?? [];
    if (!organizationId) return null;
    const found = await this.find(organizationId, userId!, id!);
    return (
      found && {
        ...{
          path: pathOf(organizationId, id!, found.tries),
          name: found.name,
          contentType: 'application/zip',
          size: found.size,
        },
        sent: (start, bytes) => this.note(organizationId, userId!, id!, start, start + bytes),
      }
    );
  }

  private async find(organizationId: string, userId: string, id: string) {
    const [rows] = await this.db.read<[{ name: string; size: number; tries: number }]>(
      { organizationId },
      sql`SELECT o.slug || '-' || to_char(e.ready_at, 'YYYY-MM-DD') || '.zip' AS name, e.bytes::float8 AS size, e.tries
        FROM exports e JOIN organizations o ON o.id = e.organization_id
        WHERE e.organization_id = ${organizationId} AND e.id = ${id} AND e.status = 'ready' AND e.expires_at > now()
          AND EXISTS (SELECT FROM members m WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}
            AND m.role = 'owner' AND m.status = 'accepted')`,
    );
    return rows[0] ?? null;
  }

  /** A download that breaks off goes on where it stopped. Once all bytes have been sent, in their order, the export ends. */
  private note(organizationId: string, userId: string, id: string, from: number, to: number): Promise<void> {
    return this.db.transaction({ organizationId }, async () => {
      const [ended] = await this.db.query<{ ended: boolean }>(sql`
        UPDATE exports SET sent = greatest(sent, ${to}), status = CASE WHEN ${to} >= bytes THEN 'downloaded' ELSE status END,
          ended_at = CASE WHEN ${to} >= bytes THEN now() END
        WHERE organization_id = ${organizationId} AND id = ${id} AND status = 'ready' AND sent >= ${from}
        RETURNING status = 'downloaded' AS ended`);
      if (ended?.ended)
        await this.audit.add(organizationId, { userId, requestId: `export-${id}` }, 'download export', {
          export_id: id,
        });
    });
  }
}
