import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database, pageOf, type Position } from '@app/database';
import { startOfDay } from '@app/scheduling';
import type { Membership } from '../web/sessions.js';
import { type PaymentRow, paymentsPage } from './families.queries.js';
import type { InvoiceFilter, InvoicePosition } from './invoices.filter.js';
import { type InvoiceRow, invoicesPage, type TermsRow, termsOf } from './invoices.queries.js';
import { monthsUntil } from './months.js';
import { familiesOf, type OwingRow, type SearchedRow, studentsNamed, studentsOwing } from './owing.queries.js';
import { receivedSince, totals, type TotalsRow } from './totals.queries.js';

/** Rows of a page: with their links, it stays below 60 kB. */
const ROWS = 25;
/** How many students a search by name looks at: row-level security lets no index help with names. And how many it finds. */
const SEARCHED = 2_000;
const MOST_FOUND = 50;
/** How far is counted. */
export const MOST_COUNTED = 1_000;

/** Lists of money, each by an index. */
@Injectable()
export class MoneyLists {
  constructor(private readonly db: Database) {}

  async invoices(organization: Membership, filter: InvoiceFilter) {
    const { organizationId } = organization;
    const named = filter.name === '' ? null : await this.named(organizationId, filter.name, filter.from);
    const [rows, [sums], [terms]] = await this.db.read<[InvoiceRow, TotalsRow, TermsRow]>(
      { organizationId },
      invoicesPage(organizationId, filter, ROWS + 1, named && named.ids),
      totals(organizationId, thisMonth(organization), MOST_COUNTED),
      termsOf(organizationId),
    );
    const { rows: invoices, next } = pageOf(rows, ROWS, 'created_at');
    const position: InvoicePosition | null = next && { state: invoices.at(-1)!.state, ...next };
    return { invoices, totals: sums!, terms: terms!, next: position, more: named && named.next };
  }

  /** Payments, the newest first. @param current those alone that brought money this month */
  async payments(organization: Membership, current: boolean, after: Position | null) {
    const { organizationId } = organization;
    const which = current ? sql`AND ${receivedSince(organizationId, thisMonth(organization))}` : sql``;
    const [rows, [terms]] = await this.db.read<[PaymentRow, TermsRow]>(
      { organizationId },
      paymentsPage(organizationId, which, after, ROWS + 1),
      termsOf(organizationId),
    );
    return { ...pageOf(rows, ROWS, 'created_at'), terms: terms! };
  }

  /** Families that owe, those who owe most first. @param page from 0 on */
  owing({ organizationId }: Membership, page: number) {
    const families = familiesOf(organizationId, studentsOwing(organizationId, MOST_COUNTED), ROWS + 1, page * ROWS);
    return this.families(organizationId, families);
  }

  /** Families with a student or a parent of this name, whatever they owe. */
  async familiesNamed({ organizationId }: Membership, name: string, from: Position | null) {
    const { ids, next } = await this.named(organizationId, name, from, ROWS);
    return { ...(await this.families(organizationId, familiesOf(organizationId, of(ids), ROWS))), next };
  }

  private async families(organizationId: string, families: Sql) {
    const [rows, [terms]] = await this.db.read<[OwingRow, TermsRow]>(
      { organizationId },
      families,
      termsOf(organizationId),
    );
    return { rows: rows.slice(0, ROWS), more: rows.length > ROWS, terms: terms! };
  }

  private async named(organizationId: string, name: string, from: Position | null, most = MOST_FOUND) {
    const query = studentsNamed(organizationId, name, from, SEARCHED + 1);
    const [rows] = await this.db.read<[SearchedRow]>({ organizationId }, query);
    const seen = pageOf(rows, SEARCHED, 'created_at');
    const all = seen.rows.filter(({ found }) => found);
    const found = pageOf(all, most, 'created_at');
    return { ids: found.rows.map(({ id }) => id), next: found.next ?? seen.next };
  }
}

const of = (ids: string[]): Sql => sql`SELECT unnest(${ids}::uuid[])`;

/** The first moment and day of the current month, where the organization is. */
export function thisMonth({ timeZone }: Membership) {
  const sinceDay = `${monthsUntil(new Date(), timeZone).to}-01`;
  return { since: startOfDay(sinceDay, timeZone), sinceDay };
}
