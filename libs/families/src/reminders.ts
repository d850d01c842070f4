import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { FamilyMails, type Payer } from '@app/people';
import { dayOf } from '@app/scheduling';
import { FamilyPeople } from './family-people.js';
import { Rounds } from './rounds.js';

/** Days after the due date at which an invoice that is not paid is brought to mind; before it, if negative. */
const THRESHOLDS = [-3, 3, 10, 20];

/** Invoices in one transaction. */
const PORTION = 200;

interface Due {
  id: string;
  dueDate: string;
  days: number;
  /** Null if nobody was chosen. */
  payer: Payer | null;
}

/** Reminds those who pay of invoices that are due. */
@Injectable()
export class Reminders {
  constructor(
    private readonly db: Database,
    private readonly rounds: Rounds,
    private readonly people: FamilyPeople,
  ) {}

  /**
   * Queues what is to be brought to mind today, in a transaction of its own: of each invoice that was issued here the last threshold that was crossed since
   * reminders were switched on, and since it was issued.
   *
   * @returns whether there is more
   */
  gather(organizationId: string, zone: string): Promise<boolean> {
    return this.db.transaction({ organizationId }, async () => {
      const { moment } = await this.rounds.open(organizationId);
      const today = dayOf(moment, zone);
      const due = await this.db.query<Due>(sql`
        SELECT d.id, d.due_date::text AS "dueDate", d.days, to_json(p) AS payer FROM (
          SELECT i.id, i.student_id, i.due_date, max(t.days) AS days
          FROM family_switches f JOIN invoices i ON i.organization_id = ${organizationId} AND i.status = 'open' AND i.snapshot IS NOT NULL
            AND i.amount_due_cents > i.amount_paid_cents
          CROSS JOIN unnest(${THRESHOLDS}::integer[]) t (days)
          WHERE f.organization_id = ${organizationId} AND f.kind = 'reminders' AND i.due_date + t.days <= ${today}::date
            AND i.due_date + t.days > (f.created_at AT TIME ZONE ${zone})::date AND i.due_date + t.days > (i.sent_at AT TIME ZONE ${zone})::date
            AND (t.days > 0 OR i.due_date >= ${today}::date)
          GROUP BY 1, 2, 3) d
        LEFT JOIN LATERAL (${FamilyMails.payerOf(organizationId, sql`d.student_id`)}) p ON true
        WHERE NOT EXISTS (SELECT FROM invoice_reminders r WHERE r.organization_id = ${organizationId} AND r.invoice_id = d.id
          AND r.due_date = d.due_date AND r.days >= d.days)
        ORDER BY d.id LIMIT ${PORTION}`);
      const mails = due.flatMap(({ id: aboutId, payer }) => (payer ? [{ id: payer.id, aboutId }] : []));
      const payers = new Map(due.flatMap(({ payer }) => (payer ? [[payer.id, payer]] : [])));
      const reached = await this.people.payers(organizationId, [...payers.values()]);
      await this.people.mail(organizationId, 'invoice_reminder', reached, mails);
      await this.db.query(sql`
        INSERT INTO invoice_reminders (organization_id, invoice_id, due_date, days) SELECT ${organizationId}, * FROM unnest(
          ${due.map(({ id }) => id)}::uuid[], ${due.map(({ dueDate }) => dueDate)}::date[], ${due.map(({ days }) => days)}::integer[])
        ON CONFLICT DO NOTHING`);
      if (due.length === PORTION) return true;
      await this.db.query(sql`UPDATE family_rounds SET reminded_at = now() WHERE organization_id = ${organizationId}`);
      return false;
    });
  }
}
