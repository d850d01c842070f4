import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { TimedLinks, Vault } from '@app/config';
import { Database } from '@app/database';
import { Refused } from '@app/rules';

/** An uploaded document, as it is served. */
export interface Document {
  /** In the private storage. */
  path: string;
  name: string;
  contentType: string;
  size: number;
}

/** Who asks for a file: an API key, or a manager who is signed in to the portal. */
type Reader = 'key' | 'manager';

/** Whether the reader of this id may still read the organization's files, in SQL. */
const READS: Record<Reader, (organizationId: string, id: string) => Sql> = {
  key: (organizationId, id) => sql`SELECT FROM api_keys WHERE organization_id = ${organizationId} AND id = ${id}
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
  manager: (organizationId, id) => sql`SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${id}
    AND status = 'accepted' AND role IN ('owner', 'admin')`,
};

/**
 * Links to the bytes of uploaded files. Each names the organization, the file, who asked for it and when it ends, and is signed; whether
 * they may still read it is looked up when it is opened.
 */
@Injectable()
export class FileLinks {
  /** Of each kind of reader: no id of one passes for another's. */
  private readonly links: Record<Reader, TimedLinks>;

  constructor(
    private readonly db: Database,
    vault: Vault,
  ) {
    this.links = {
      key: new TimedLinks(vault.derive('links of keys to files'), 3),
      manager: new TimedLinks(vault.derive('links of managers to files'), 3),
    };
  }

  /** @returns the path of a link for this reader @throws Refused for an unknown file, and one that was not uploaded */
  async of(organizationId: string, reader: Reader, readerId: string, fileId: string): Promise<string> {
    if (!(await this.find(organizationId, reader, readerId, fileId))) throw Refused.notFound();
    return `/files/${this.links[reader].of(organizationId, fileId, readerId)}`;
  }

  /** What a link leads to; null if it was never made, has ended, or its reader or file has. */
  async open(link: string): Promise<Document | null> {
    for (const reader of ['key', 'manager'] as const) {
      const [organizationId, fileId, readerId] = this.links[reader].open(link) ?? [];
      if (organizationId) return this.find(organizationId, reader, readerId!, fileId!);
    }
    return null;
  }

  private async find(organizationId: string, reader: Reader, id: string, fileId: string): Promise<Document | null> {
    const [rows] = await this.db.read<[Omit<Document, 'path'> & { id: string }]>(
      { organizationId },
      sql`SELECT u.id, u.name, u.mime AS "contentType", u.size_bytes AS size
        FROM files f JOIN uploads u ON u.organization_id = f.organization_id AND u.id = f.upload_id
        WHERE f.organization_id = ${organizationId} AND f.id = ${fileId}
          AND EXISTS (${READS[reader](organizationId, id)})`,
    );
    const [row] = rows;
    return row
      ? { path: `${organizationId}/${row.id}`, name: row.name, contentType: row.contentType, size: row.size }
      : null;
  }
}
