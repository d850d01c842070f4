import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import { billingParent, shownName } from '@app/people';
import { taxIn } from './tax.js';

/** What the paper of an invoice says besides its number, days, sums and lines: as it was when it was issued, for ever. */
export interface Snapshot {
  /** A day of the organization's. */
  issued_on: string;
  seller: {
    name: string;
    /** The digest of a row of `logos`. Invoices of before have none. */
    logo?: string | null;
    legal_name: string | null;
    address: string | null;
    phone: string | null;
    business_number_label: string | null;
    business_number: string | null;
    payment_instructions: string | null;
    pay_url: string | null;
  };
  tax: { registered: boolean; label: string; rate: number };
  /** Not there any more once somebody was erased whose invoice is older than tax law asks for. */
  buyer?: { student_name: string | null; name: string | null; address: string | null };
}

/** SQL: whom the invoice `i` was billed to, as JSON; null if it was not issued here, and once one of them was erased. */
export const SHOWN_BUYER = (i: string): string => `CASE WHEN NOT ${i}.person_erased THEN ${i}.snapshot -> 'buyer' END`;

/** SQL: how papers of the organization `o` begin now, as JSON. */
export const SELLER_NOW = sql`jsonb_build_object('name', o.name, 'legal_name', o.legal_name, 'address', o.postal_address, 'phone', o.phone,
  'business_number_label', o.business_number_label, 'business_number', o.business_number,
  'payment_instructions', o.payment_instructions, 'pay_url', o.pay_url,
  'logo', (SELECT g.digest FROM logos g WHERE g.organization_id = o.id AND g.in_use))`;

/** SQL: what the invoice `i` would print now. @param issuedOn SQL for its day, which may refer to its organization as `o` */
export const snapshotNow = (organizationId: string, issuedOn: Sql): Sql => sql`
  SELECT jsonb_build_object('issued_on', ${issuedOn},
      'seller', ${SELLER_NOW},
      'tax', jsonb_build_object('registered', o.tax_registered, 'label', o.tax_label, 'rate', o.tax_rate),
      'buyer', (SELECT jsonb_build_object('student_name', s.name, 'name', CASE WHEN p.user_id IS NULL THEN coalesce(s.billing_name, s.name)
            ELSE coalesce(p.billing_name, p.name) END,
          'address', CASE WHEN p.user_id IS NULL THEN s.billing_address ELSE p.billing_address END)
        FROM (SELECT m.billing_name, m.billing_address, ${shownName('m')} AS name, ${raw(billingParent('m'))} AS parent_id
          FROM members m LEFT JOIN users u ON u.id = m.user_id
          WHERE m.organization_id = ${organizationId} AND m.user_id = i.student_id) s
        LEFT JOIN (SELECT r.user_id, r.billing_name, r.billing_address, ${shownName('r')} AS name
          FROM parents r LEFT JOIN users u ON u.id = r.user_id WHERE r.organization_id = ${organizationId}) p ON p.user_id = s.parent_id))
  FROM organizations o WHERE o.id = ${organizationId}`;

/** Writes down what invoices say when they are issued, in the ambient transaction. */
@Injectable()
export class Snapshots {
  constructor(private readonly db: Database) {}

  /** Settles which lines of a draft are taxable. @returns what is to be kept of the rest, and the parent who is billed */
  async take(organizationId: string, invoiceId: string) {
    await this.db.query(sql`
      UPDATE invoice_lines l SET tax = coalesce((SELECT j.tax FROM sessions s
          JOIN subjects j ON j.organization_id = s.organization_id AND j.id = s.subject_id
          WHERE s.organization_id = ${organizationId} AND s.id = l.session_id), o.line_tax)
      FROM organizations o WHERE o.id = ${organizationId} AND l.organization_id = ${organizationId} AND l.invoice_id = ${invoiceId}
        AND l.tax IS NULL`);
    const [row] = await this.db.query<{ snapshot: Snapshot; taxable: string; parentId: string | null }>(sql`
      SELECT (${snapshotNow(organizationId, sql`(now() AT TIME ZONE o.time_zone)::date`)}) AS snapshot,
        (SELECT ${raw(billingParent('m'))} FROM members m
          WHERE m.organization_id = ${organizationId} AND m.user_id = i.student_id) AS "parentId",
        (SELECT coalesce(sum(amount_cents), 0)::text FROM invoice_lines l
          WHERE l.organization_id = i.organization_id AND l.invoice_id = i.id AND l.tax = 'taxable') AS taxable
      FROM invoices i WHERE i.organization_id = ${organizationId} AND i.id = ${invoiceId}`);
    const { snapshot, taxable, parentId } = row!;
    const taxCents = snapshot.tax.registered ? taxIn(BigInt(taxable), BigInt(snapshot.tax.rate)) : 0n;
    return { snapshot: JSON.stringify(snapshot), taxCents, parentId };
  }
}
