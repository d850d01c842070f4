import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, EXPORT, type Tables, transition } from '@app/database';
import { ManagerNotices } from '@app/people';
import { Refused } from '@app/rules';

/** How long an export waits for an owner to confirm it, and to be fetched. */
const KEPT = sql`interval '7 days'`;

/** The status of an export. */
export type ExportStatus = Tables['exports']['status'];

/** An export, as owners see it. */
export interface ListedExport {
  id: string;
  status: ExportStatus;
  /** Who asked: a person's name, or that of an API key. */
  askedBy: string | null;
  confirmedBy: string | null;
  createdAt: Date;
  readyAt: Date | null;
  endedAt: Date | null;
  expiresAt: Date | null;
  bytes: number | null;
}

/**
 * Exports that an organization asks for: a key asks and an owner confirms, or an owner asks; the worker prepares the file; an owner
 * fetches it. All owners are mailed. Each rule runs inside the ambient transaction.
 */
@Injectable()
export class Exports {
  constructor(
    private readonly db: Database,
    private readonly notices: ManagerNotices,
  ) {}

  /** A key asks. While an export is open, asking again returns it, and nobody is mailed. */
  async ask(organizationId: string, apiKeyId: string): Promise<{ id: string; changed: boolean }> {
    const open = await this.open(organizationId);
    if (open) return { id: open, changed: false };
    const id = uuidv7();
    await this.db.query(sql`INSERT INTO exports (id, organization_id, api_key_id, expires_at)
      VALUES (${id}, ${organizationId}, ${apiKeyId}, now() + ${KEPT})`);
    const [key] = await this.db.query<{ name: string }>(
      sql`SELECT name FROM api_keys WHERE organization_id = ${organizationId} AND id = ${apiKeyId}`,
    );
    await this.notices.tell(organizationId, {
      ...{ kind: 'export_asked', page: '/exports', owners: true, about: () => ({ exported: { by: key!.name } }) },
    });
    return { id, changed: true };
  }

  /** An owner asks, and confirms by it. @returns the id @throws Refused while another one is open */
  async order(organizationId: string, userId: string): Promise<string> {
    if (await this.open(organizationId))
      throw Refused.conflict('export_open', 'There is an export already. Fetch it, or call it off, first.');
    const id = uuidv7();
    await this.db.query(sql`INSERT INTO exports (id, organization_id, status, created_by, confirmed_by, confirmed_at)
      VALUES (${id}, ${organizationId}, 'waiting', ${userId}, ${userId}, now())`);
    return id;
  }

  /** An owner confirms what a key has asked for. @returns whether anything changed @throws Refused */
  confirm(organizationId: string, userId: string, id: string): Promise<boolean> {
    return transition(this.db, 'exports', EXPORT, {
      ...{ organizationId, id, action: 'confirm' },
      set: () => [sql`confirmed_by = ${userId}`, sql`confirmed_at = now()`, sql`expires_at = NULL`],
    });
  }

  /** @returns whether anything changed @throws Refused once it has ended otherwise */
  callOff(organizationId: string, id: string): Promise<boolean> {
    return transition(this.db, 'exports', EXPORT, {
      ...{ organizationId, id, action: 'call_off' },
      set: () => [sql`ended_at = now()`, sql`leased_until = NULL`],
    });
  }

  /** The worker has stored the file. @returns false if the export is not being prepared any more, or by another worker */
  async finish(organizationId: string, id: string, tries: number, bytes: number): Promise<boolean> {
    const [ready] = await this.db.query<{ by: string | null }>(sql`
      UPDATE exports SET status = 'ready', ready_at = now(), expires_at = now() + ${KEPT}, bytes = ${bytes}, leased_until = NULL
      WHERE organization_id = ${organizationId} AND id = ${id} AND status = 'preparing' AND tries = ${tries}
      RETURNING confirmed_by AS by`);
    if (!ready) return false;
    await this.notices.tell(organizationId, {
      ...{ kind: 'export_ready', page: '/exports', owners: true },
      about: (nameOf) => ({ exported: { by: ready.by && nameOf(ready.by) } }),
    });
    return true;
  }

  /** Newest first. */
  async list(organizationId: string): Promise<ListedExport[]> {
    const named = (id: string) =>
      raw(`(SELECT a.first_name || ' ' || a.last_name FROM organization_administrators() a
      WHERE a.user_id = e.${id})`);
    const [rows] = await this.db.read<[ListedExport]>(
      { organizationId },
      sql`SELECT e.id, e.status, coalesce(k.name, ${named('created_by')}) AS "askedBy", ${named('confirmed_by')} AS "confirmedBy",
          e.created_at AS "createdAt", e.ready_at AS "readyAt", e.ended_at AS "endedAt", e.expires_at AS "expiresAt", e.bytes::float8 AS bytes
        FROM exports e LEFT JOIN api_keys k ON k.organization_id = e.organization_id AND k.id = e.api_key_id
        WHERE e.organization_id = ${organizationId} ORDER BY e.created_at DESC, e.id DESC LIMIT 20`,
    );
    return rows;
  }

  /** The export that has not ended, which there is one of at most. */
  private async open(organizationId: string): Promise<string | null> {
    await this.db.lock(`export of ${organizationId}`);
    const [open] = await this.db.query<{ id: string }>(sql`
      SELECT id FROM exports WHERE organization_id = ${organizationId} AND ended_at IS NULL`);
    return open?.id ?? null;
  }
}
