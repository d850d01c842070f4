import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Vault } from '@app/config';
import { Database } from '@app/database';
import { Refused } from '@app/rules';

/** How long a link serves (ms). */
const LIFETIME_MS = 15 * 60_000;

const MAC_BYTES = 16;

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
  private readonly secrets: Record<Reader, Buffer>;

  constructor(
    private readonly db: Database,
    vault: Vault,
  ) {
    this.secrets = { key: vault.derive('links of keys to files'), manager: vault.derive('links of managers to files') };
  }

  /** @returns the path of a link for this reader @throws Refused for an unknown file, and one that was not uploaded */
  async of(organizationId: string, reader: Reader, readerId: string, fileId: string): Promise<string> {
    if (!(await this.find(organizationId, reader, readerId, fileId))) throw Refused.notFound();
    const ends = Buffer.alloc(6);
    ends.writeUIntBE(Date.now() + LIFETIME_MS, 0, 6);
    const named = Buffer.concat([...[organizationId, fileId, readerId].map(toBytes), ends]);
    return `/files/${Buffer.concat([named, this.sign(reader, named)]).toString('base64url')}`;
  }

  /** What a link leads to; null if it was never made, has ended, or its reader or file has. */
  async open(link: string): Promise<Document | null> {
    const bytes = Buffer.from(link, 'base64url');
    // Compared as text too: base64url has several spellings of the same last bits.
    if (bytes.length !== 54 + MAC_BYTES || bytes.toString('base64url') !== link) return null;
    const named = bytes.subarray(0, 54);
    const mac = bytes.subarray(54);
    const reader = (['key', 'manager'] as const).find((one) => timingSafeEqual(mac, this.sign(one, named)));
    if (!reader || named.readUIntBE(48, 6) <= Date.now()) return null;
    const [organizationId, fileId, readerId] = [0, 16, 32].map((at) => toUuid(named.subarray(at, at + 16)));
    return this.find(organizationId!, reader, readerId!, fileId!);
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

  private sign(reader: Reader, named: Buffer): Buffer {
    return createHmac('sha256', this.secrets[reader]).update(named).digest().subarray(0, MAC_BYTES);
  }
}

const toBytes = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex');
const toUuid = (bytes: Buffer) => bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
