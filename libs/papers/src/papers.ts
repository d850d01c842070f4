import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { type Asked, mayRead, type Reader, ReaderLinks } from '@app/access';
import { type Snapshot, snapshotNow } from '@app/billing';
import { Vault } from '@app/config';
import { Database } from '@app/database';
import { Refused } from '@app/rules';
import { PrivateStorage } from '@app/storage';
import { paperOf, type PrintedLine } from './paper.js';
import { Renderer } from './renderer.js';

/** A paper, as it is served. */
export interface StoredPaper {
  /** In the private storage. */
  path: string;
  name: string;
  contentType: string;
  size: number;
}

interface Row {
  status: string;
  number: string;
  currency: string;
  due_on: string | null;
  due: string;
  tax: string | null;
  snapshot: Snapshot | null;
  now: Snapshot;
  lines: (Omit<PrintedLine, 'unitCents' | 'amountCents'> & Record<'unit' | 'amount', string>)[];
}

const CONTENT_TYPE = 'application/pdf';

/**
 * Invoices on paper. Each is drawn when it is first asked for, and stored: from then on its bytes are the same, whatever becomes of names, addresses and
 * this program. Erasure knows the path: an invoice and an upload have no id in common.
 */
@Injectable()
export class Papers {
  private readonly links: ReaderLinks;

  constructor(
    private readonly db: Database,
    private readonly storage: PrivateStorage,
    private readonly renderer: Renderer,
    vault: Vault,
  ) {
    this.links = new ReaderLinks(vault, 'papers');
  }

  /**
   * @returns the path of a link for this reader
   * @throws Refused for an unknown invoice, for one that only owners are shown any more, and for a draft
   */
  async of(organizationId: string, reader: Reader, readerId: string, invoiceId: string): Promise<string> {
    const asked = { organizationId, id: invoiceId, reader, readerId };
    const row = await this.find(asked);
    if (!row) throw Refused.notFound();
    if (row.status === 'draft')
      throw Refused.invalidState('draft', ISSUED, 'A draft has no paper yet: issue it first.');
    return `/papers/${this.links.of(asked)}`;
  }

  /** What a link leads to; null if it was never made, has ended, or its reader may not read the paper any more. */
  async open(link: string): Promise<StoredPaper | null> {
    const asked = this.links.open(link);
    const row = asked && (await this.find(asked));
    if (!row || row.status === 'draft') return null;
    const path = `${asked.organizationId}/${asked.id}`;
    const stored = await this.storage.read(path);
    const file = stored ? await buffer(stored) : await this.print(asked.organizationId, path, row);
    return { path, name: `${row.number}.pdf`, contentType: CONTENT_TYPE, size: file.length };
  }

  private async print(organizationId: string, path: string, row: Row): Promise<Buffer> {
    // One that was imported says what is known now, and nothing of tax.
    const snapshot = row.snapshot ?? { ...row.now, tax: { ...row.now.tax, registered: false } };
    const paper = paperOf({
      number: row.number,
      currency: row.currency,
      dueOn: row.due_on,
      dueCents: BigInt(row.due),
      taxCents: BigInt(row.tax ?? 0),
      snapshot,
      lines: row.lines.map(({ unit, amount, ...line }) => ({
        ...line,
        unitCents: BigInt(unit),
        amountCents: BigInt(amount),
      })),
    });
    const file = await this.renderer.draw(paper, organizationId);
    await this.storage.put(path, {
      contentType: CONTENT_TYPE,
      size: file.length,
      open: () => Readable.from([file]),
      chunks: () => Readable.from([file]) as AsyncIterable<Buffer>,
    });
    return file;
  }

  private async find(asked: Asked): Promise<Row | null> {
    const { organizationId, id, readerId } = asked;
    const [rows] = await this.db.read<[Row]>(
      { organizationId },
      sql`SELECT i.status, i.invoice_number AS number, i.currency, i.due_date::text AS due_on, i.amount_due_cents::text AS due,
          i.tax_cents::text AS tax, i.snapshot, (${snapshotNow(organizationId, sql`(coalesce(i.sent_at, i.created_at) AT TIME ZONE o.time_zone)::date`)}) AS now,
          (SELECT coalesce(json_agg(json_build_object('description', l.description, 'quantity', l.quantity,
            'unit', l.unit_amount_cents::text, 'amount', l.amount_cents::text, 'tax', l.tax) ORDER BY l.position), '[]')
            FROM invoice_lines l WHERE l.organization_id = ${organizationId} AND l.invoice_id = i.id) AS lines
        FROM invoices i WHERE i.organization_id = ${organizationId} AND i.id = ${id} AND ${mayRead(asked)}
          AND (NOT i.person_erased OR EXISTS (SELECT FROM members m WHERE m.organization_id = ${organizationId}
            AND m.user_id = ${readerId} AND m.role = 'owner' AND m.status = 'accepted'))`,
    );
    return rows[0] ?? null;
  }
}

const ISSUED = ['open', 'paid', 'void', 'uncollectible'];
