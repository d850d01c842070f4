import { bestCell, type Cents, kindOf, type Pay, payOf, type Price, priceOf, type RateCell } from './rates.js';

/** What the prices of a session depend on, as it was looked up. */
export interface Terms {
  tierId: string | null;
  groupRateCents: Cents;
  students: readonly { id: string; bandId: string | null }[];
  cells: readonly RateCell[];
}

/** What takes place, as far as prices differ by it. */
export interface Subject {
  subjectId: string | null;
  mode: string | null;
  groupId: string | null;
  classroomId: string | null;
}

/** A participant's price, and whether somebody set it: then later settling leaves it alone. */
export interface ParticipantPrice extends Price {
  studentId: string;
  rateGiven: boolean;
}

/**
 * What each student pays, and what the tutor gets. The rate that a request names wins, for everybody; otherwise a participant
 * whose price was set before keeps it.
 *
 * @param given the rate that this request names: null to settle it anew, undefined to say nothing
 * @param before the participants before a change
 */
export function settle(
  terms: Terms,
  session: Subject,
  given?: Cents,
  before: readonly Pick<ParticipantPrice, 'studentId' | 'rateCents' | 'rateGiven'>[] = [],
): { participants: ParticipantPrice[]; pay: Pay } {
  const { students, cells, tierId, groupRateCents } = terms;
  const { groupId, classroomId, mode, subjectId } = session;
  const where = { classroom: classroomId !== null, group: groupId !== null, students: students.length, mode };
  const priced = { tierId, subjectId, kind: kindOf(where), inPerson: mode === 'in_person' };
  const participants = students.map(({ id, bandId }) => {
    const price = priceOf(bestCell(cells, bandId, priced), groupRateCents, priced);
    const known = before.find(({ studentId }) => studentId === id);
    const rate = given === undefined && known?.rateGiven ? known.rateCents : given;
    const rateGiven = (rate ?? null) !== null;
    return { studentId: id, ...price, ...(rateGiven && { rateCents: rate! }), rateGiven };
  });
  // One session, one pay: the band counts only if all students have it.
  const [band = null, ...others] = new Set(students.map(({ bandId }) => bandId));
  return { participants, pay: payOf(bestCell(cells, others.length === 0 ? band : null, priced)) };
}
