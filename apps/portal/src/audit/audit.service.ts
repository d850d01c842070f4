import { Injectable } from '@nestjs/common';
import { Database, pageOf } from '@app/database';
import type { Membership } from '../web/sessions.js';
import { ROWS_OF_PART } from '../web/spreadsheets.js';
import { AuditFilters } from './audit.filters.js';
import { auditPage, type AuditRow, keys, type NamedRow, people } from './audit.queries.js';

const PAGE = 25;
const MOST_CHOICES = 50;

/** A download has at most this many rows. */
export const MOST_DOWNLOADED = 20_000;

/** The audit log of an organization, for its owners and admins. */
@Injectable()
export class AuditService {
  constructor(private readonly db: Database) {}

  async page(organization: Membership, filters: AuditFilters) {
    const { organizationId } = organization;
    const [rows, somebody, some] = await this.db.read<[AuditRow, NamedRow, NamedRow]>(
      { organizationId },
      auditPage(organization, filters, PAGE + 1),
      people(organizationId, filters.person, MOST_CHOICES),
      keys(organizationId, filters.key, MOST_CHOICES),
    );
    const { rows: shown, next } = pageOf(rows, PAGE, 'at');
    return { rows: shown, older: next, people: somebody, keys: some };
  }

  /** The rows of a download, in parts. No connection is held while the client reads. */
  async *download(organization: Membership, filters: AuditFilters): AsyncGenerator<AuditRow[]> {
    let after = filters.before;
    for (let left = MOST_DOWNLOADED; left > 0; left -= ROWS_OF_PART) {
      const page = auditPage(organization, new AuditFilters(filters, after), ROWS_OF_PART);
      const [rows] = await this.db.read<[AuditRow]>({ organizationId: organization.organizationId }, page);
      if (rows.length > 0) yield rows;
      if (rows.length < ROWS_OF_PART) return;
      after = rows.at(-1)!;
    }
  }
}
