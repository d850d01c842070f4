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

/** A lesson, as its reader may believe it to be, and as it is. */
export interface Telling {
  /** Null: not that it is on. */
  told: Known | null;
  /** What else mails may have said: they are being sent, or nobody knows whether they have arrived. */
  doubts: (Known | null)[];
  now: Known | null;
}

/** What a mail says of a lesson: how it was, if it says that, and how it is. */
export interface News {
  kind: FamilySwitch;
  told: Known | null;
  now: Known | null;
}

/** What becomes of it: nothing is to be said, so that `now` counts as told; or a mail is to say so, at this time. */
export type Decision = { say: false } | { say: true; at: Date; urgent: boolean };

const GATHERING_MS = 10 * 60_000;

/** Of lessons that begin so soon, news does not wait for more. */
const SOON_MS = 12 * 3_600_000;

/** The news for a reader who may believe any of these; null if none of them is wrong. */
export function newsOf({ told, doubts, now }: Telling): News | null {
  const believed = [told, ...doubts];
  const wrong = believed.filter((one) => differ(one, now));
  if (wrong.length === 0) return null;
  if (!now) return { kind: 'lessons_cancelled', told: wrong[0]!, now };
  if (believed.includes(null)) return { kind: 'lessons_booked', told: null, now };
  return { kind: 'lessons_moved', told: wrong[0]!, now };
}

/** Whether somebody has to be told. @param joins when a mail that waits for them is due; null if none does @param moment now */
export function decide(telling: Telling, kinds: readonly FamilySwitch[], joins: Date | null, moment: Date): Decision {
  const news = newsOf(telling);
  const ahead = timesAfter(moment, telling);
  if (!news || !kinds.includes(news.kind) || ahead.length === 0) return { say: false };
  const urgent = ahead.some((at) => at.getTime() - moment.getTime() < SOON_MS);
  const at = urgent ? moment : (joins ?? new Date(moment.getTime() + GATHERING_MS));
  return { say: true, at, urgent };
}

/** When the lesson begins, for all that its reader may believe: as far as that is to come. */
export function timesAfter(moment: Date, { told, doubts, now }: Telling): Date[] {
  return [told, ...doubts, now].flatMap((one) => (one && new Date(one.at) > moment ? [new Date(one.at)] : []));
}

function differ(one: Known | null, other: Known | null): boolean {
  return textOf(one) !== textOf(other);
}

function textOf(known: Known | null): string | null {
  if (!known) return null;
  const { at, until, tutor, subject, mode, url, place, students } = known;
  const times = [at, until].map((time) => new Date(time).getTime());
  return JSON.stringify([times, tutor, subject, mode, url, place, students]);
}
