import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, lockRecord } from '@app/database';
import { type Refusal, Refused } from '@app/rules';
import { needStaff } from './staff.js';

/** A correction of what a tutor earned in a period: an addition, or a deduction if negative. */
export interface NewAdjustment {
  tutorId: string;
  /** Days, YYYY-MM-DD. */
  periodStart: string;
  periodEnd: string;
  amountCents: number;
  note: string | null;
}

/** Corrections of what tutors earned. They are never changed: a wrong one is voided. */
@Injectable()
export class Adjustments {
  constructor(private readonly db: Database) {}

  /** @returns the id @throws Refused for somebody who is not staff, an amount of 0, and a period that ends before it starts */
  async add(organizationId: string, adjustment: NewAdjustment): Promise<string> {
    const { tutorId, periodStart, periodEnd, amountCents, note } = adjustment;
    const refusals = adjustmentFaults(adjustment);
    if (refusals.length > 0) throw Refused.invalidAt(refusals);
    await needStaff(this.db, organizationId, tutorId);
    const id = uuidv7();
    await this.db.query(sql`
      INSERT INTO adjustments (id, organization_id, tutor_id, period_start, period_end, amount_cents, note)
      VALUES (${id}, ${organizationId}, ${tutorId}, ${periodStart}, ${periodEnd}, ${amountCents}, ${note})`);
    return id;
  }

  /** One that is voided no longer counts. @returns false if it had been done before */
  async void(organizationId: string, id: string): Promise<boolean> {
    const { voided } = await lockRecord<{ voided: boolean }>(this.db, 'adjustments', organizationId, id, sql`voided`);
    if (voided) return false;
    await this.db.query(sql`
      UPDATE adjustments SET voided = true, voided_at = now() WHERE organization_id = ${organizationId} AND id = ${id}`);
    return true;
  }
}

/** What is wrong with an adjustment by itself. */
export function adjustmentFaults({
  periodStart,
  periodEnd,
  amountCents,
}: Pick<NewAdjustment, 'periodStart' | 'periodEnd' | 'amountCents'>): Refusal[] {
  return [
    ...(amountCents === 0 ? [{ at: ['amount_cents'], reason: 'Must not be 0.' }] : []),
    ...(periodEnd < periodStart ? [{ at: ['period_end'], reason: 'Must not be before "period_start".' }] : []),
  ];
}
