import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, MOST_CENTS, type VALUES } from '@app/database';
import { Refused } from '@app/rules';
import { Settlement } from './settlement.js';

export type Tax = (typeof VALUES)['invoice_lines']['tax'][number];

/** What is to be paid for one thing. */
export interface Line {
  description: string;
  quantity: number;
  unitCents: bigint;
  /** What it comes to, unless quantity times unit, as imported lines may. */
  amountCents?: bigint;
  itemType: (typeof VALUES)['invoice_lines']['item_type'][number];
  sessionId: string | null;
  /** Null: as the subject or the organization says when the invoice is issued. */
  tax?: Tax | null;
}

/** A line for a student's collecting draft. */
export type Charge = Line & { studentId: string };

/** Writes the lines of drafts, in the ambient transaction. */
@Injectable()
export class Drafts {
  constructor(
    private readonly db: Database,
    private readonly settlement: Settlement,
  ) {}

  /** Adds lines to the students' collecting drafts, and makes those that there are not. Locks the students' accounts. */
  async charge(organizationId: string, charges: readonly Charge[]): Promise<void> {
    const students = [...new Set(charges.map(({ studentId }) => studentId))].sort();
    if (students.length === 0) return;
    await this.settlement.lock(organizationId, students);
    const drafts = JSON.stringify(students.map((student_id) => ({ id: uuidv7(), student_id })));
    const [, found] = await Promise.all([
      this.db.query(sql`
        INSERT INTO invoices (id, organization_id, student_id, status, amount_due_cents, currency, collecting)
        SELECT d.id, o.id, d.student_id, 'draft', 0, o.currency, true
        FROM json_populate_recordset(NULL::invoices, ${drafts}::json) d, organizations o WHERE o.id = ${organizationId}
        ON CONFLICT (organization_id, student_id) WHERE collecting DO NOTHING`),
      this.db.query<{ id: string; student_id: string }>(sql`
        SELECT id, student_id FROM invoices WHERE organization_id = ${organizationId} AND collecting
          AND student_id = ANY (${students}::uuid[])`),
    ]);
    const draftOf = new Map(found.map(({ id, student_id: student }) => [student, id]));
    await this.append(
      organizationId,
      charges.map((charge) => ({ ...charge, invoiceId: draftOf.get(charge.studentId)! })),
    );
  }

  /** Adds lines after those that there are. The accounts are locked. @throws Refused if an invoice would come to too much */
  async append(organizationId: string, lines: readonly (Line & { invoiceId: string })[]): Promise<void> {
    const rows = lines.map((line, position) => ({
      id: uuidv7(),
      invoice_id: line.invoiceId,
      position,
      description: line.description,
      quantity: line.quantity,
      unit_amount_cents: String(line.unitCents),
      amount_cents: String(line.amountCents ?? line.unitCents * BigInt(line.quantity)),
      item_type: line.itemType,
      session_id: line.sessionId,
      tax: line.tax ?? null,
    }));
    await this.db.query(sql`
      INSERT INTO invoice_lines (id, organization_id, invoice_id, position, description, quantity, unit_amount_cents,
        amount_cents, item_type, session_id, tax)
      SELECT n.id, ${organizationId}, n.invoice_id, n.position + coalesce(
          (SELECT max(l.position) + 1 FROM invoice_lines l WHERE l.organization_id = ${organizationId} AND l.invoice_id = n.invoice_id), 0),
        n.description, n.quantity, n.unit_amount_cents, n.amount_cents, n.item_type, n.session_id, n.tax
      FROM json_populate_recordset(NULL::invoice_lines, ${JSON.stringify(rows)}::json) n`);
    await this.addUp(organizationId, new Set(lines.map(({ invoiceId }) => invoiceId)));
  }

  /** Writes a line of a draft anew: it keeps its place, and the lesson that brought it. The account is locked. @returns false if there is no such line */
  async change(organizationId: string, invoiceId: string, lineId: string, line: Omit<Line, 'sessionId'>) {
    const { description, quantity, unitCents, itemType, tax = null } = line;
    // Of lines, no process may update more than the tax.
    const [old] = await this.db.query<{ position: number; type: Line['itemType']; lesson: string | null }>(sql`
      DELETE FROM invoice_lines l USING invoices i
      WHERE i.organization_id = ${organizationId} AND i.id = l.invoice_id AND i.status = 'draft'
        AND l.organization_id = ${organizationId} AND l.invoice_id = ${invoiceId} AND l.id = ${lineId}
      RETURNING l.position, l.item_type AS type, l.session_id AS lesson`);
    if (!old) return false;
    await this.db.query(sql`
      INSERT INTO invoice_lines (id, organization_id, invoice_id, position, description, quantity, unit_amount_cents, amount_cents,
        item_type, session_id, tax)
      VALUES (${lineId}, ${organizationId}, ${invoiceId}, ${old.position}, ${description}, ${quantity}, ${String(unitCents)}::bigint,
        ${String(unitCents * BigInt(quantity))}::bigint, ${old.lesson ? old.type : itemType}, ${old.lesson}, ${tax})`);
    await this.addUp(organizationId, new Set([invoiceId]));
    return true;
  }

  /** Removes lines of drafts. The accounts are locked. @param which SQL about the line `l` @returns how many */
  async remove(organizationId: string, which: Sql): Promise<number> {
    const removed = await this.db.query<{ id: string }>(sql`
      WITH removed AS (
        DELETE FROM invoice_lines l USING invoices i
        WHERE i.organization_id = ${organizationId} AND i.id = l.invoice_id AND i.status = 'draft'
          AND l.organization_id = ${organizationId} AND ${which} RETURNING l.invoice_id)
      SELECT invoice_id AS id FROM removed`);
    await this.addUp(organizationId, new Set(removed.map(({ id }) => id)));
    return removed.length;
  }

  /**
   * Takes back what a session charged, of one student or of all. Locks their accounts.
   *
   * @throws Refused if one of the lines has been issued. Void invoices do not count: nobody owes what is on them.
   */
  async takeBack(organizationId: string, sessionId: string, studentId: string | null = null): Promise<void> {
    const own = sql`l.organization_id = ${organizationId} AND l.session_id = ${sessionId}
      AND (${studentId}::uuid IS NULL OR i.student_id = ${studentId})`;
    const lines = (more: Sql) => sql`SELECT DISTINCT i.student_id, i.status FROM invoice_lines l
      JOIN invoices i ON i.organization_id = l.organization_id AND i.id = l.invoice_id WHERE ${own} AND ${more}`;
    const charged = await this.db.query<{ student_id: string }>(lines(sql`i.status <> 'void'`));
    await this.settlement.lock(
      organizationId,
      charged.map(({ student_id: student }) => student),
    );
    const [issued] = await this.db.query<{ status: string }>(lines(sql`i.status NOT IN ('draft', 'void')`));
    if (issued) throw Refused.invalidState(issued.status, ['draft'], ISSUED);
    await this.remove(organizationId, own);
  }

  private async addUp(organizationId: string, invoiceIds: ReadonlySet<string>): Promise<void> {
    const added = await this.db.query<{ due: string }>(sql`
      WITH sums AS (
        SELECT i.id, coalesce(sum(l.amount_cents), 0) AS due FROM invoices i
        LEFT JOIN invoice_lines l ON l.organization_id = i.organization_id AND l.invoice_id = i.id
        WHERE i.organization_id = ${organizationId} AND i.id = ANY (${[...invoiceIds]}::uuid[]) GROUP BY i.id),
      written AS (
        UPDATE invoices i SET amount_due_cents = s.due::bigint FROM sums s
        WHERE i.organization_id = ${organizationId} AND i.id = s.id AND abs(s.due) <= ${MOST_CENTS})
      SELECT due FROM sums WHERE abs(due) > ${MOST_CENTS}`);
    if (added.length > 0) throw Refused.invalid('The invoice would come to more than 10,000,000,000.00.');
  }
}

const ISSUED =
  'This lesson is on an invoice that has been issued. Void that invoice first, or correct the amount on another one.';
