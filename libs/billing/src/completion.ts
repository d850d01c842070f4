import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, SESSION, takesPart } from '@app/database';
import { Refused } from '@app/rules';
import { type ParticipantChange, Register, SessionChanges, withoutTutor } from '@app/scheduling';
import { shareOf } from './amounts.js';
import { type Charge, Drafts } from './drafts.js';
import {
  type Attendance,
  billAt,
  isBilled,
  type Lesson,
  Lessons,
  owedFor,
  payAt,
  type Participant,
} from './lessons.js';

/** For so many days after its start, whoever teaches a session completes it. */
export const OWN_DAYS = 7;
const DAY_MS = 86_400_000;

/** Whether it is later than that. */
export const isTooLate = (startsAt: Date): boolean => Date.now() - startsAt.getTime() > OWN_DAYS * DAY_MS;

/** Who came to a session. */
export interface Attended {
  studentId: string;
  attendance: Attendance;
}

/** What lessons cost and pay: completing them, and the ways back. In the ambient transaction. */
@Injectable()
export class Completion {
  constructor(
    private readonly db: Database,
    private readonly lessons: Lessons,
    private readonly drafts: Drafts,
    private readonly changes: SessionChanges,
    private readonly register: Register,
  ) {}

  /**
   * Bills everybody who takes part and is not excused, and settles what the tutor gets. A student who is not
   * named keeps the attendance recorded before, or else counts as attended.
   *
   * @returns false if it had been done before
   * @throws Refused before the start, without a tutor, for strangers, and for another attendance than that of the first time
   */
  async complete(organizationId: string, sessionId: string, attended: readonly Attended[]): Promise<boolean> {
    const lesson = await this.lessons.lock(organizationId, sessionId);
    const named = new Map(attended.map(({ studentId, attendance }) => [studentId, attendance]));
    const strangers = attended.flatMap(({ studentId }, index) =>
      lesson.participants.some((participant) => participant.studentId === studentId && takesPart(participant))
        ? []
        : [index],
    );
    const allowed = SESSION.allowed('complete');
    if (!SESSION.next('complete', lesson.status)) {
      const same = lesson.participants.every(
        ({ studentId, attendance }) => (named.get(studentId) ?? attendance) === attendance,
      );
      if (same && strangers.length === 0) return false;
      throw Refused.invalidState(lesson.status, allowed, 'The session is completed, with another attendance. Correct the participant, or reopen the session.'); // prettier-ignore
    }
    if (strangers.length > 0) throw await this.notTakingPart(organizationId, attended, strangers);
    if (lesson.startsAt > new Date())
      throw Refused.invalidState(lesson.status, allowed, 'The session has not begun yet.');
    if (lesson.tutorId === null) throw withoutTutor(lesson.status, allowed);

    const participants = lesson.participants.map((participant) => {
      const attendance = takesPart(participant)
        ? (named.get(participant.studentId) ?? participant.attendance ?? 'attended')
        : participant.attendance;
      return billed({ ...participant, attendance }, lesson);
    });
    await this.lessons.writeTotals(organizationId, sessionId, {
      owed: owedFor(participants),
      pay: payAt(lesson, participants),
      also: sql`status = 'completed', completed_at = now(),`,
    });
    await this.lessons.writeParticipants(organizationId, participants);
    await this.drafts.charge(
      organizationId,
      participants.flatMap((participant) => lineOf(participant, lesson)),
    );
    return true;
  }

  /**
   * {@link complete} by whoever teaches it (`asTeacher`), until seven days after its start.
   *
   * @throws Refused also for somebody else's lesson, and a later one
   */
  async completeOwn(
    organizationId: string,
    tutorId: string,
    sessionId: string,
    attended: readonly Attended[],
  ): Promise<boolean> {
    const { status, startsAt, ...lesson } = await this.lessons.lock(organizationId, sessionId);
    if (lesson.tutorId !== tutorId) throw Refused.notFound();
    if (isTooLate(startsAt))
      throw Refused.invalidState(status, SESSION.allowed('complete'), 'It began more than seven days ago.');
    return this.complete(organizationId, sessionId, attended);
  }

  private async notTakingPart(organizationId: string, attended: readonly Attended[], at: number[]): Promise<Refused> {
    const ids = new Set(at.map((index) => attended[index]!.studentId));
    const known = await this.db.query(sql`
      SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ANY (${[...ids]}::uuid[])`);
    if (known.length < ids.size) return Refused.notFound();
    const reason = 'This student does not take part in the session.';
    return Refused.invalidAt(at.map((index) => ({ at: ['participants', index, 'student_id'], reason })));
  }

  /**
   * Takes a completed session back to scheduled, as if it had not been completed.
   *
   * @returns false if it had been done before
   * @throws Refused once it is on an issued invoice
   */
  async reopen(organizationId: string, sessionId: string): Promise<boolean> {
    const lesson = await this.lessons.lock(organizationId, sessionId);
    const status = SESSION.next('reopen', lesson.status);
    if (!status) return false;
    await this.drafts.takeBack(organizationId, sessionId);
    const participants = lesson.participants.map((participant) => ({
      ...participant,
      attendance: null,
      billedCents: null,
    }));
    await this.lessons.writeParticipants(organizationId, participants);
    const also = sql`status = ${status}, completed_at = NULL,`;
    await this.lessons.writeTotals(organizationId, sessionId, { owed: null, pay: null, also });
    return true;
  }

  /**
   * Cancels a session.
   *
   * @param percent of what completing would have billed, which is charged
   * @returns false if it had been done before
   * @throws Refused for another reason or charge than those of the first time
   */
  async cancel(
    organizationId: string,
    sessionId: string,
    reason: string | null,
    percent: number | null,
  ): Promise<boolean> {
    const lesson = await this.lessons.lock(organizationId, sessionId);
    const cancelled = await this.changes.cancel(organizationId, sessionId, reason);
    if (!cancelled) {
      if (percent === null || percent === lesson.chargedPct) return false;
      const told = `The session was cancelled before, and ${lesson.chargedPct} percent charged.`;
      throw Refused.invalidState(lesson.status, SESSION.allowed('cancel'), told);
    }
    if (!percent) return true;
    const hundredths = BigInt(percent) * 100n;
    const participants = lesson.participants.filter(takesPart).map((participant) => {
      return { ...participant, billedCents: shareOf(billAt(participant, lesson), hundredths) };
    });
    const also = sql`charged_pct = ${percent},`;
    await this.lessons.writeTotals(organizationId, sessionId, { owed: owedFor(participants), pay: null, also });
    await this.lessons.writeParticipants(organizationId, participants);
    const fee = { description: 'late cancellation', itemType: 'fee' } as const;
    const charges = participants.flatMap((participant) => lineOf(participant, lesson));
    await this.drafts.charge(
      organizationId,
      charges.map((charge) => ({ ...charge, ...fee })),
    );
    return true;
  }

  /** Waits for the session of a participant. @throws Refused for an unknown one */
  lock(organizationId: string, participantId: string): Promise<Lesson> {
    return this.lessons.lockOf(organizationId, participantId);
  }

  /**
   * Changes a participant. Once the session is completed, what the change makes of the bill follows.
   *
   * @throws Refused like {@link Register.change}, and for a bill that has been issued
   */
  async correct(organizationId: string, participantId: string, change: ParticipantChange): Promise<void> {
    const lesson = await this.lock(organizationId, participantId);
    await this.register.change(organizationId, participantId, change);
    if (lesson.status !== 'completed') return;
    const before = lesson.participants.find(({ id }) => id === participantId)!;
    // What was completed elsewhere was billed there.
    if (before.billedCents === null) return;
    const participants = await this.lessons.participants(organizationId, lesson.id);
    const changed = participants.find(({ id }) => id === participantId)!;
    if (isBilled(changed) === isBilled(before)) return;
    const after = billed(changed, lesson);
    const all = participants.map((participant) => (participant.id === participantId ? after : participant));
    await this.lessons.writeTotals(organizationId, lesson.id, { owed: owedFor(all), pay: payAt(lesson, all) });
    await this.lessons.writeParticipants(organizationId, [after]);
    if (after.billedCents === 0n) await this.drafts.takeBack(organizationId, lesson.id, after.studentId);
    await this.drafts.charge(organizationId, lineOf(after, lesson));
  }
}

const billed = (participant: Participant, lesson: Lesson): Participant => ({
  ...participant,
  billedCents: billAt(participant, lesson),
});

/** The line of a participant; none if there is nothing to pay. */
function lineOf({ studentId, billedCents }: Participant, { id, description }: Lesson): Charge[] {
  if (!billedCents) return [];
  return [{ studentId, description, quantity: 1, unitCents: billedCents, itemType: 'session', sessionId: id }];
}
