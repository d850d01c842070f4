import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, lockRecord } from '@app/database';
import { TakenBackNotices } from '@app/people';
import { Refused } from '@app/rules';
import { heldCurrency } from '../currency.js';
import { takenBackAs } from '../taking-back.js';
import { needStaff } from './staff.js';

/** Money that a tutor was paid. */
export interface NewPayout {
  tutorId: string;
  amountCents: number;
  /** The session that it pays for; null if it pays for several. */
  sessionId: string | null;
  paidAt: Date;
}

/** What the rule asks of a session. */
interface PaidSession {
  status: string;
  tutorId: string | null;
  isGroup: boolean;
  paid: boolean;
}

/** How far the clock of a client may be ahead. */
const CLOCKS_DIFFER_MS = 60_000;

type Recorded = Record<'recorded' | 'takenBack' | 'recent', boolean> & { reason: string | null };

/** Records what tutors were paid. */
@Injectable()
export class Payouts {
  constructor(
    private readonly db: Database,
    private readonly notices: TakenBackNotices,
  ) {}

  /** @returns the id @throws Refused for a time ahead, somebody who is not staff, and a session that is not theirs, not completed, or paid before */
  async record(organizationId: string, payout: NewPayout): Promise<string> {
    const { tutorId, amountCents, sessionId, paidAt } = payout;
    if (paidAt.getTime() > Date.now() + CLOCKS_DIFFER_MS)
      throw Refused.invalid('Must not be in the future.', 'paid_at');
    await needStaff(this.db, organizationId, tutorId);
    const session = sessionId === null ? null : await this.payable(organizationId, tutorId, sessionId);
    const currency = await heldCurrency(this.db, organizationId);
    const id = uuidv7();
    await this.db.query(sql`
      INSERT INTO payouts (id, organization_id, tutor_id, session_id, amount_cents, currency, is_group, paid_at, recorded)
      VALUES (${id}, ${organizationId}, ${tutorId}, ${sessionId}, ${amountCents}, ${currency}, ${session?.isGroup ?? null},
        ${paidAt.toISOString()}, true)`);
    return id;
  }

  /**
   * Takes back a payout that was entered by mistake. Its session can be paid out again.
   *
   * @returns false if it had been done before
   * @throws Refused for a payout that was not recorded here, or not in the last 24 hours, and for another reason than that of the first time
   */
  async void(organizationId: string, id: string, reason: string): Promise<boolean> {
    const columns = sql`recorded, taken_back AS "takenBack", void_reason AS reason, created_at > now() - interval '24 hours' AS recent`;
    const payout = await lockRecord<Recorded>(this.db, 'payouts', organizationId, id, columns);
    if (payout.takenBack) return takenBackAs(reason, payout.reason, 'voided', ['paid']);
    if (!payout.recorded)
      throw Refused.invalidState('paid', [], 'The payout was imported: what became of it is history.');
    if (!payout.recent) {
      throw Refused.invalidState(
        'paid',
        [],
        'The payout was recorded more than 24 hours ago: correct it by an adjustment instead.',
      );
    }
    await this.db.query(sql`
      UPDATE payouts SET taken_back = true, taken_back_at = now(), void_reason = ${reason}
      WHERE organization_id = ${organizationId} AND id = ${id}`);
    await this.notices.tell(organizationId);
    return true;
  }

  /** The session stays locked, so that of two payouts at the same time the second sees the first. */
  private async payable(organizationId: string, tutorId: string, id: string): Promise<PaidSession> {
    const locked = await this.db.query(sql`
      SELECT id FROM sessions WHERE organization_id = ${organizationId} AND id = ${id} FOR NO KEY UPDATE`);
    if (locked.length === 0) throw Refused.notFound();
    const [session] = await this.db.query<PaidSession>(sql`
      SELECT s.status, s.tutor_id AS "tutorId",
        s.group_id IS NOT NULL OR s.classroom_id IS NOT NULL OR s.student_id IS NULL AS "isGroup",
        EXISTS (SELECT FROM payouts p WHERE p.organization_id = s.organization_id AND p.session_id = s.id
          AND NOT p.taken_back) AS paid
      FROM sessions s WHERE s.organization_id = ${organizationId} AND s.id = ${id}`);
    const { status, paid } = session!;
    if (session!.tutorId !== tutorId) throw Refused.invalid('Must be a session of this tutor.', 'session_id');
    if (status !== 'completed') throw Refused.invalidState(status, ['completed']);
    if (paid) throw Refused.invalid('This session has been paid out already.', 'session_id');
    return session!;
  }
}
