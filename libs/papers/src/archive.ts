import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { type Asked, mayRead, READS_ALL } from '@app/access';
import { readsInvoice, SELLER_NOW, type Snapshot, snapshotNow } from '@app/billing';
import { ADJUSTMENT_NOTE, Database } from '@app/database';
import { shownName } from '@app/people';
import { Refused } from '@app/rules';
import { adjustmentNoteOf, type PrintedPayment, receiptOf, statementOf } from './family-papers.js';
import { type Paper, paperOf, type PrintedLine } from './paper.js';
import { entriesOf, type EntryRow } from './statement-entries.js';

export type PaperKind = 'invoice' | 'adjustmentNote' | 'receipt' | 'statement';

/** Days of the organization's. */
export interface Period {
  from: string;
  to: string;
}

/** A paper that there is, or why there is none of a record. */
export interface Found {
  /** As it is served. */
  name: string;
  /** In the private storage; null for one that is drawn each time. */
  path: string | null;
  paper: () => Paper;
  refused?: Refused;
}

interface InvoiceRow {
  status: string;
  number: string;
  currency: string;
  due_on: string | null;
  due: string;
  tax: string | null;
  snapshot: Snapshot | null;
  now: Snapshot;
  note: string | null;
  note_path: string;
  adjusted_on: string | null;
  lines: (Omit<PrintedLine, 'unitCents' | 'amountCents'> & Record<'unit' | 'amount', string>)[];
}

type PaymentRow = Omit<PrintedPayment, 'cents' | 'payer'> & {
  status: string;
  cents: string;
  name: string | null;
  address: string | null;
};

const ISSUED = ['open', 'paid', 'void', 'uncollectible'];
const RECEIVED = ['succeeded', 'refunded'];

/** What papers say, as it is stored. */
@Injectable()
export class Archive {
  constructor(private readonly db: Database) {}

  /** @param asked who wants it; null for those whom it names @returns null for an unknown record, and one that they may not see */
  find(
    kind: PaperKind,
    organizationId: string,
    id: string,
    asked: Asked | null,
    period?: Period,
  ): Promise<Found | null> {
    if (kind === 'receipt') return this.receipt(organizationId, id, asked);
    if (kind === 'statement') return this.statement(organizationId, id, asked, period!);
    return this.invoice(kind, organizationId, id, asked);
  }

  /** The picture that a paper names. */
  async logo(organizationId: string, { logo }: Paper): Promise<string | null> {
    if (logo === null) return null;
    const [[row]] = await this.db.read<[{ png: string }]>(
      { organizationId },
      sql`SELECT png FROM logos WHERE organization_id = ${organizationId} AND digest = ${logo}`,
    );
    return row?.png ?? null;
  }

  private async invoice(
    kind: 'invoice' | 'adjustmentNote',
    organizationId: string,
    id: string,
    asked: Asked | null,
  ): Promise<Found | null> {
    const [[row]] = await this.db.read<[InvoiceRow]>(
      { organizationId },
      sql`SELECT i.status, i.invoice_number AS number, i.currency, i.due_date::text AS due_on, i.amount_due_cents::text AS due,
          i.tax_cents::text AS tax, i.snapshot, (${snapshotNow(organizationId, sql`(coalesce(i.sent_at, i.created_at) AT TIME ZONE o.time_zone)::date`)}) AS now,
          i.adjustment_note_number AS note, ${raw(ADJUSTMENT_NOTE('i'))} AS note_path, i.adjusted_on::text AS adjusted_on,
          (SELECT coalesce(json_agg(json_build_object('description', l.description, 'quantity', l.quantity,
            'unit', l.unit_amount_cents::text, 'amount', l.amount_cents::text, 'tax', l.tax) ORDER BY l.position), '[]')
            FROM invoice_lines l WHERE l.organization_id = ${organizationId} AND l.invoice_id = i.id) AS lines
        FROM invoices i WHERE i.organization_id = ${organizationId} AND i.id = ${id} AND ${shownTo(asked, 'i')}`,
    );
    if (!row) return null;
    // One that was imported says what is known now, and nothing of tax.
    const snapshot = row.snapshot ?? { ...row.now, tax: { ...row.now.tax, registered: false } };
    const { number, currency, status, note, adjusted_on: adjustedOn } = row;
    const printed = {
      ...{ number, currency, snapshot, dueOn: row.due_on, dueCents: BigInt(row.due), taxCents: BigInt(row.tax ?? 0) },
      lines: row.lines.map(({ unit, amount, ...line }) => ({
        ...line,
        unitCents: BigInt(unit),
        amountCents: BigInt(amount),
      })),
    };
    if (kind === 'invoice') {
      const draft =
        status === 'draft' && Refused.invalidState('draft', ISSUED, 'A draft has no paper yet: issue it first.');
      return {
        name: `${number}.pdf`,
        path: `${organizationId}/${id}`,
        paper: () => paperOf(printed),
        refused: draft || undefined,
      };
    }
    if (status !== 'void') {
      const refused = Refused.invalidState(status, ['void'], 'Only a void invoice is taken back by a note.');
      return { name: '', path: null, paper: () => paperOf(printed), refused };
    }
    // No tax was charged, so there is nothing to adjust.
    if (note === null) return null;
    const paper = () => adjustmentNoteOf(printed, { number: note, issuedOn: adjustedOn! });
    return { name: `${note}.pdf`, path: `${organizationId}/${row.note_path}`, paper };
  }

  private async receipt(organizationId: string, id: string, asked: Asked | null): Promise<Found | null> {
    const [[row]] = await this.db.read<[PaymentRow]>(
      { organizationId },
      sql`SELECT p.status, p.currency, p.amount_cents::text AS cents, p.payment_type AS type, p.reference,
          coalesce(p.received_on, (p.created_at AT TIME ZONE o.time_zone)::date)::text AS "receivedOn",
          (SELECT i.invoice_number FROM invoices i WHERE i.organization_id = ${organizationId} AND i.id = p.invoice_id) AS "invoiceNumber",
          ${sellerNow} AS seller, w.name, w.address
        FROM payments p JOIN organizations o ON o.id = p.organization_id
        LEFT JOIN LATERAL (${personNow('members', organizationId, sql`p.student_id`)} UNION ALL ${personNow('parents', organizationId, sql`p.parent_id`)}) w ON true
        WHERE p.organization_id = ${organizationId} AND p.id = ${id} AND ${shownTo(asked, 'p')}`,
    );
    if (!row) return null;
    const { status, cents, name, address, ...printed } = row;
    const refused = RECEIVED.includes(status) ? undefined : Refused.invalidState(status, RECEIVED);
    const paper = () => receiptOf({ ...printed, cents: BigInt(cents), payer: { name, address } });
    return { name: `Receipt ${printed.receivedOn}.pdf`, path: `${organizationId}/${id}`, paper, refused };
  }

  /** As things are now, also of what was paid and taken back since. */
  private async statement(
    organizationId: string,
    id: string,
    asked: Asked | null,
    { from, to }: Period,
  ): Promise<Found | null> {
    type Row = {
      currency: string;
      today: string;
      seller: Snapshot['seller'];
      name: string | null;
      address: string | null;
    };
    const [[row], entries] = await this.db.read<[Row, EntryRow]>(
      { organizationId },
      sql`SELECT o.currency, (now() AT TIME ZONE o.time_zone)::date::text AS today, ${sellerNow} AS seller, w.name, w.address
        FROM organizations o CROSS JOIN LATERAL (${personNow('parents', organizationId, sql`${id}`)}) w
        WHERE o.id = ${organizationId} AND ${asked ? mayRead(asked) : sql`true`}
          AND ${!asked || READS_ALL.includes(asked.reader)}::boolean AND EXISTS (SELECT FROM parents r WHERE r.organization_id = ${organizationId} AND r.user_id = ${id} AND r.enrolled_at IS NOT NULL)`,
      entriesOf(organizationId, id, to),
    );
    if (!row) return null;
    const all = entries.map(({ cents, ...entry }) => ({ ...entry, cents: BigInt(cents) }));
    const before = all.filter(({ day }) => day < from);
    const openingCents = before.reduce((sum, { cents }) => sum + cents, 0n);
    const { currency, today, seller, name, address } = row;
    const printed = { currency, today, seller, from, to, openingCents, payer: { name, address } };
    const paper = () => statementOf({ ...printed, entries: all.filter(({ day }) => day >= from) });
    return { name: `Statement ${from} to ${to}.pdf`, path: null, paper };
  }
}

/**
 * SQL: whether whoever asked may read a paper. A parent reads what was billed to them and what they paid. Once somebody on it was erased, only owners
 * may; those whom it names are not asked then.
 */
function shownTo(asked: Asked | null, row: 'i' | 'p'): Sql {
  const whole = sql`NOT ${raw(row)}.person_erased`;
  if (asked === null) return whole;
  const { organizationId, reader, readerId } = asked;
  if (reader === 'parent') {
    const own = row === 'i' ? readsInvoice(organizationId, readerId) : sql`p.parent_id = ${readerId}`;
    return sql`${mayRead(asked)} AND ${whole} AND ${own}`;
  }
  if (!READS_ALL.includes(reader)) return sql`false`;
  return sql`${mayRead(asked)} AND (${whole} OR EXISTS (SELECT FROM members m WHERE m.organization_id = ${organizationId}
    AND m.user_id = ${readerId} AND m.role = 'owner' AND m.status = 'accepted'))`;
}

/** SQL: how papers begin that ask for no money. */
const sellerNow = sql`(${SELLER_NOW} || '{"payment_instructions": null, "pay_url": null}')`;

/** SQL: what papers call somebody, as invoices do. */
const personNow = (table: 'members' | 'parents', organizationId: string, id: Sql): Sql => sql`
  SELECT coalesce(t.billing_name, ${shownName('t')}) AS name, t.billing_address AS address FROM ${raw(table)} t
  LEFT JOIN users u ON u.id = t.user_id WHERE t.organization_id = ${organizationId} AND t.user_id = ${id}`;
