import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { Refused } from '@app/rules';

const BYTES_PER_MB = 1_048_576;

/** A document that has been stored. */
export interface NewUpload {
  id: string;
  name: string;
  contentType: string;
  size: number;
}

/** Documents that are stored privately. One that no file names within a day is deleted, and one whose file is deleted. */
@Injectable()
export class Uploads {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
  ) {}

  /** Records it, in the ambient transaction. @throws Refused beyond what an organization may store */
  async add(organizationId: string, { id, name, contentType, size }: NewUpload): Promise<void> {
    const limit = this.env.get('FILES_MB_PER_ORG') * BYTES_PER_MB;
    await this.db.lock(`uploads of ${organizationId}`);
    const [sum] = await this.db.query<{ used: number }>(sql`
      SELECT coalesce(sum(size_bytes), 0)::float8 AS used FROM uploads WHERE organization_id = ${organizationId}`);
    if (sum!.used + size > limit) {
      const words = `The organization’s files take ${sum!.used} of ${limit} bytes: delete some, or ask the operator for more.`;
      throw Refused.conflict('storage_full', words, { limit, used: sum!.used });
    }
    await this.db.query(sql`
      INSERT INTO uploads (id, organization_id, name, mime, size_bytes)
      VALUES (${id}, ${organizationId}, ${name}, ${contentType}, ${size})`);
  }
}
