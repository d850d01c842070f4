import { Injectable } from '@nestjs/common';
import sql, { empty, type Sql } from 'sql-template-tag';
import { type Asked, mayRead, type Reader, ReaderLinks, READS_ALL } from '@app/access';
import { Vault } from '@app/config';
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

/** Whoever does not read all reads the receipts of what they claim. */
const theirs = ({ organizationId, reader, readerId }: Asked): Sql =>
  READS_ALL.includes(reader)
    ? empty
    : sql`AND EXISTS (SELECT FROM expense_claims c WHERE c.organization_id = ${organizationId} AND c.receipt_file_id = f.id
        AND c.tutor_id = ${readerId})`;

/** Links to the bytes of uploaded files. */
@Injectable()
export class FileLinks {
  private readonly links: ReaderLinks;

  constructor(
    private readonly db: Database,
    vault: Vault,
  ) {
    this.links = new ReaderLinks(vault, 'files');
  }

  /** @returns the path of a link for this reader @throws Refused for an unknown file, and one that was not uploaded */
  async of(organizationId: string, reader: Reader, readerId: string, fileId: string): Promise<string> {
    const asked = { organizationId, id: fileId, reader, readerId };
    if (!(await this.find(asked))) throw Refused.notFound();
    return `/files/${this.links.of(asked)}`;
  }

  /** What a link leads to; null if it was never made, has ended, or its reader or file has. */
  async open(link: string): Promise<Document | null> {
    const asked = this.links.open(link);
    return asked && this.find(asked);
  }

  private async find(asked: Asked): Promise<Document | null> {
    const { organizationId, id } = asked;
    const [rows] = await this.db.read<[Omit<Document, 'path'> & { id: string }]>(
      { organizationId },
      sql`SELECT u.id, u.name, u.mime AS "contentType", u.size_bytes AS size
        FROM files f JOIN uploads u ON u.organization_id = f.organization_id AND u.id = f.upload_id
        WHERE f.organization_id = ${organizationId} AND f.id = ${id} AND ${mayRead(asked)} ${theirs(asked)}`,
    );
    const [row] = rows;
    return row
      ? { path: `${organizationId}/${row.id}`, name: row.name, contentType: row.contentType, size: row.size }
      : null;
  }
}
