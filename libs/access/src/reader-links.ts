import sql, { type Sql } from 'sql-template-tag';
import { TimedLinks, type Vault } from '@app/config';
import { IS_STAFF } from '@app/database';

/** Who asks for a document: an API key, a manager who is signed in to the portal, or a parent or a tutor, who read only what is theirs. */
export type Reader = 'key' | 'manager' | 'parent' | 'tutor';

/** Those who read all documents of the organization. */
export const READS_ALL: readonly Reader[] = ['key', 'manager'];

/** Whether the reader of this id may still read the organization's documents, in SQL. */
const READS: Record<Reader, (organizationId: string, id: string) => Sql> = {
  key: (organizationId, id) => sql`SELECT FROM api_keys WHERE organization_id = ${organizationId} AND id = ${id}
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
  manager: (organizationId, id) => sql`SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${id}
    AND status = 'accepted' AND role IN ('owner', 'admin')`,
  parent: (organizationId, id) => sql`SELECT FROM parents WHERE organization_id = ${organizationId} AND user_id = ${id}
    AND status = 'accepted'`,
  tutor: (organizationId, id) => sql`SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${id}
    AND status = 'accepted' AND ${IS_STAFF}`,
};

/** A document that somebody asks for. */
export interface Asked {
  organizationId: string;
  /** Of the document. */
  id: string;
  reader: Reader;
  readerId: string;
  /** Whatever else the link carries: 16 bytes, written as a UUID. */
  more?: string;
}

/** SQL: whether they may still read the organization's documents. */
export const mayRead = ({ organizationId, reader, readerId }: Asked): Sql =>
  sql`EXISTS (${READS[reader](organizationId, readerId)})`;

/**
 * Links to documents of one kind. Each names the organization, the document, who asked for it and when it ends, and is signed; whether they may still read
 * it is looked up when it is opened.
 */
export class ReaderLinks {
  /** Of each kind of reader: no id of one passes for another's. */
  private readonly links: Record<Reader, TimedLinks>;

  /** @param more whether each says something else */
  constructor(vault: Vault, what: 'files' | 'papers' | 'adjustment notes' | 'receipts' | 'statements', more = false) {
    const count = more ? 4 : 3;
    this.links = {
      key: new TimedLinks(vault.derive(`links of keys to ${what}`), count),
      manager: new TimedLinks(vault.derive(`links of managers to ${what}`), count),
      parent: new TimedLinks(vault.derive(`links of parents to ${what}`), count),
      tutor: new TimedLinks(vault.derive(`links of tutors to ${what}`), count),
    };
  }

  of({ organizationId, id, reader, readerId, more }: Asked): string {
    return this.links[reader].of(organizationId, id, readerId, ...(more ? [more] : []));
  }

  /** @returns null for one that was never made, or has ended */
  open(link: string): Asked | null {
    for (const reader of ['key', 'manager', 'parent', 'tutor'] as const) {
      const [organizationId, id, readerId, more] = this.links[reader].open(link) ?? [];
      if (organizationId) return { organizationId, id: id!, reader, readerId: readerId!, more };
    }
    return null;
  }
}
