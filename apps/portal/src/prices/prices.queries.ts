import { Injectable } from '@nestjs/common';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { Database, type VALUES } from '@app/database';

/** Prices of one page: a form has room for no more. */
export const PAGE = 40;

/** A row that prices are told apart by. */
export interface NamedRow {
  id: string;
  name: string;
  tax?: string | null;
  is_archived?: boolean;
  sort_order?: number;
}

/** A cell of the table of rates, with the names of what it is for; null fits everything. */
export interface PriceRow {
  id: string;
  band: string | null;
  tier: string | null;
  subject: string | null;
  kind: (typeof VALUES)['rate_cells']['session_kind'][number] | null;
  /** Cents. */
  price: string | null;
  surcharge: string | null;
  /** Percent of what is billed. */
  pct: string | null;
  /** Cents for an hour. */
  flat: string | null;
}

const NAMED = {
  subjects: { more: 'tax, is_archived', order: 'is_archived, lower(name), name' },
  rate_bands: { more: 'sort_order', order: 'sort_order, name' },
  tutor_tiers: { more: 'sort_order', order: 'sort_order, name' },
};

/** What the pages of prices show. */
@Injectable()
export class PricesQueries {
  constructor(private readonly db: Database) {}

  /** The rows of a kind, at most 1,000, or one of them. */
  async named(organizationId: string, table: keyof typeof NAMED, id: string | null = null): Promise<NamedRow[]> {
    const [rows] = await this.db.read<[NamedRow]>({ organizationId }, namedIn(organizationId, table, id));
    return rows;
  }

  /** A page of the table, everything that a new row can be for, and the currency. @param page from 0 */
  async table(organizationId: string, page: number) {
    const [prices, subjects, levels, tiers, terms] = await this.db.read<
      [PriceRow, NamedRow, NamedRow, NamedRow, { currency: string }]
    >(
      { organizationId },
      pricesOf(organizationId, page),
      namedIn(organizationId, 'subjects'),
      namedIn(organizationId, 'rate_bands'),
      namedIn(organizationId, 'tutor_tiers'),
      sql`SELECT currency FROM organizations WHERE id = ${organizationId}`,
    );
    const more = prices.length > PAGE;
    const teaching = subjects.filter(({ is_archived }) => !is_archived);
    return { prices: prices.slice(0, PAGE), more, subjects: teaching, levels, tiers, currency: terms[0]!.currency };
  }

  /** The prices of a page as they are for the ambient transaction. */
  async current(organizationId: string, page: number): Promise<PriceRow[]> {
    return (await this.db.query<PriceRow>(pricesOf(organizationId, page))).slice(0, PAGE);
  }
}

const namedIn = (organizationId: string, table: keyof typeof NAMED, id: string | null = null): Sql => sql`
  SELECT id, name, ${raw(NAMED[table].more)} FROM ${raw(table)}
  WHERE organization_id = ${organizationId} ${id === null ? empty : sql`AND id = ${id}`}
  ORDER BY ${raw(NAMED[table].order)} LIMIT 1000`;

/** What fits everything comes first. */
const pricesOf = (organizationId: string, page: number): Sql => sql`
  SELECT c.id, b.name AS band, t.name AS tier, s.name AS subject, c.session_kind AS kind, c.student_rate_cents::text AS price,
    c.inperson_surcharge_cents::text AS surcharge, c.tutor_pay_pct::text AS pct, c.tutor_flat_rate_cents::text AS flat
  FROM rate_cells c
  LEFT JOIN rate_bands b ON b.organization_id = c.organization_id AND b.id = c.band_id
  LEFT JOIN tutor_tiers t ON t.organization_id = c.organization_id AND t.id = c.tutor_tier_id
  LEFT JOIN subjects s ON s.organization_id = c.organization_id AND s.id = c.subject_id
  WHERE c.organization_id = ${organizationId}
  ORDER BY lower(s.name) NULLS FIRST, c.session_kind NULLS FIRST, b.sort_order NULLS FIRST, b.name, t.sort_order NULLS FIRST, t.name, c.id
  LIMIT ${PAGE + 1} OFFSET ${page * PAGE}`;
