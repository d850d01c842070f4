import { Injectable } from '@nestjs/common';
import { type Due, PayRun } from '@app/billing';
import { Database, pageOf, type Position } from '@app/database';
import { PageError } from '../web/page-error.js';
import type { Membership } from '../web/sessions.js';
import { type TermsRow, termsOf } from './invoices.queries.js';
import { eachMonth, monthsUntil, readMonths } from './months.js';
import { type AdjustmentRow, adjustmentsOf, namesOf, type PayoutRow, payoutsOf } from './pay-run.queries.js';

/** How many adjustments and payouts of a tutor are shown. */
const MOST_OF_TUTOR = 25;

/** The month of a page or form; the current one, unless it says another. */
export function monthOf(text: unknown, { timeZone }: Membership) {
  const { to } = readMonths({ to: text }, new Date(), timeZone);
  const current = monthsUntil(new Date(), timeZone).to;
  return { ...eachMonth({ from: to, to }, timeZone)[0]!, current };
}

export type Month = ReturnType<typeof monthOf>;

/** What tutors are due for a month, to be read. */
@Injectable()
export class PayRuns {
  constructor(
    private readonly db: Database,
    private readonly run: PayRun,
  ) {}

  async due({ organizationId }: Membership, month: Month, after: Position | null, most: number) {
    const rows = await this.run.list({ organizationId }, month, after, most + 1);
    const found = pageOf(rows, most, 'created_at');
    return { ...(await this.named(organizationId, found.rows)), next: found.next };
  }

  /** @throws PageError 404 for somebody who is not on the staff */
  async tutor({ organizationId }: Membership, month: Month, id: string) {
    const [due] = await this.run.list({ organizationId }, month, null, 1, id);
    if (!due) throw PageError.notFound();
    const [[tutor], adjustments, payouts, [terms]] = await this.db.read<
      [{ id: string; name: string | null }, AdjustmentRow, PayoutRow, TermsRow]
    >(
      { organizationId },
      namesOf(organizationId, [id]),
      adjustmentsOf(organizationId, id, MOST_OF_TUTOR),
      payoutsOf(organizationId, id, MOST_OF_TUTOR),
      termsOf(organizationId),
    );
    return { due: { ...due, name: tutor!.name }, adjustments, payouts, terms: terms! };
  }

  /** Those who are on the staff, with their names. */
  async named<Row extends Pick<Due, 'id'>>(organizationId: string, rows: Row[]) {
    const [names, [terms]] = await this.db.read<[{ id: string; name: string | null }, TermsRow]>(
      { organizationId },
      namesOf(
        organizationId,
        rows.map(({ id }) => id),
      ),
      termsOf(organizationId),
    );
    const byId = new Map(names.map(({ id, name }) => [id, name]));
    const found = rows.filter(({ id }) => byId.has(id));
    return { rows: found.map((row) => ({ ...row, name: byId.get(row.id)! })), terms: terms! };
  }
}
