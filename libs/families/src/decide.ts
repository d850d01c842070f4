import type { FamilySwitch } from './switches.js';

/** What somebody is to know of a lesson ahead. Tutors are not told which students take part. */
export interface Known {
  /** ISO 8601. */
  at: string;
  until: string;
  tutor: string | null;
  subject: string | null;
  mode: string | null;
  /** Of a lesson online. */
  url: string | null;
  /** To a family: the id of a location. A tutor is not told where a lesson is days before it. */
  place: string | null;
  /** Of a family: their own children in it, by id. */
  students: string[] | null;
}

/** A lesson, as somebody was told last (null: not that it is on) and as it is. */
export interface Telling {
  told: Known | null;
  now: Known | null;
  /** When a mail is due, or was, that says what is new. */
  mailAt: Date | null;
}

/** What becomes of it: nothing is to be said, so that `now` counts as told; or a mail is to say so, at this time. */
export type Decision = { say: false } | { say: true; at: Date; urgent: boolean };

const GATHERING_MS = 10 * 60_000;

/** Of lessons that begin so soon, news does not wait for more. */
const SOON_MS = 12 * 3_600_000;

/** What is new; null for nothing. */
export function newsOf(told: Known | null, now: Known | null): FamilySwitch | null {
  if (!told) return now ? 'lessons_booked' : null;
  if (!now) return 'lessons_cancelled';
  return differ(told, now) ? 'lessons_moved' : null;
}

/** Whether somebody has to be told. @param joins when a mail that waits for them is due; null if none does @param moment now */
export function decide(
  { told, now, mailAt }: Telling,
  kinds: readonly FamilySwitch[],
  joins: Date | null,
  moment: Date,
): Decision {
  // Being written, or put off: it may have said what was so in between.
  const inHand = mailAt !== null && mailAt <= moment;
  const news = newsOf(told, now);
  const ahead = [told, now].flatMap((one) => (one && new Date(one.at) > moment ? [new Date(one.at)] : []));
  if (ahead.length === 0) return { say: false };
  if (!inHand && (!news || !kinds.includes(news))) return { say: false };
  const urgent = ahead.some((at) => at.getTime() - moment.getTime() < SOON_MS);
  const at = urgent ? moment : (joins ?? new Date(moment.getTime() + GATHERING_MS));
  return { say: true, at, urgent };
}

function differ(one: Known, other: Known): boolean {
  const text = ({ at, until, tutor, subject, mode, url, place, students }: Known) =>
    JSON.stringify([new Date(at).getTime(), new Date(until).getTime(), tutor, subject, mode, url, place, students]);
  return text(one) !== text(other);
}
