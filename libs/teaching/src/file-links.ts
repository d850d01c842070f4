import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
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

/**
 * Links to the bytes of uploaded files. Each names the organization, the file, the API key that asked for it and when it ends, and is
 * signed; whether the key still works is looked up when it is opened.
 */
@Injectable()
export class FileLinks {
  private readonly key: Buffer;

  constructor(
    private readonly db: Database,
    vault: Vault,
  ) {
    this.key = vault.derive('links to files');
  }

  /** @returns the path of a link for this key @throws Refused for an unknown file, and one that was not uploaded */
  async of(organizationId: string, keyId: string, fileId: string): Promise<string> {
    if (!(await this.find(organizationId, keyId, fileId))) throw Refused.notFound();
    const ends = Buffer.alloc(6);
    ends.writeUIntBE(Date.now() + LIFETIME_MS, 0, 6);
    const named = Buffer.concat([...[organizationId, fileId, keyId].map(toBytes), ends]);
    return `/files/${Buffer.concat([named, this.sign(named)]).toString('base64url')}`;
  }

  /** What a link leads to; null if it was never made, has ended, or its key or file has. */
  async open(link: string): Promise<Document | null> {
    const bytes = Buffer.from(link, 'base64url');
    // Compared as text too: base64url has several spellings of the same last bits.
    if (bytes.length !== 54 + MAC_BYTES || bytes.toString('base64url') !== link) return null;
    const named = bytes.subarray(0, 54);
    if (!timingSafeEqual(bytes.subarray(54), this.sign(named))) return null;
    if (named.readUIntBE(48, 6) <= Date.now()) return null;
    const [organizationId, fileId, keyId] = [0, 16, 32].map((at) => toUuid(named.subarray(at, at + 16)));
    return this.find(organizationId!, keyId!, fileId!);
  }

  private async find(organizationId: string, keyId: string, fileId: string): Promise<Document | null> {
    const [rows] = await this.db.read<[Omit<Document, 'path'> & { id: string }]>(
      { organizationId },
      sql`SELECT u.id, u.name, u.mime AS "contentType", u.size_bytes AS size
        FROM files f JOIN uploads u ON u.organization_id = f.organization_id AND u.id = f.upload_id
        WHERE f.organization_id = ${organizationId} AND f.id = ${fileId}
          AND EXISTS (SELECT FROM api_keys k WHERE k.organization_id = f.organization_id AND k.id = ${keyId}
            AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()))`,
    );
    const [row] = rows;
    return row
      ? { path: `${organizationId}/${row.id}`, name: row.name, contentType: row.contentType, size: row.size }
      : null;
  }

  private sign(named: Buffer): Buffer {
    return createHmac('sha256', this.key).update(named).digest().subarray(0, MAC_BYTES);
  }
}

const toBytes = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex');
const toUuid = (bytes: Buffer) => bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
