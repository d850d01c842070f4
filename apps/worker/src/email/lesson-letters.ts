import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { Evenings, FamilyPeople, type FamilySwitch, type LessonInMail, LessonNews, Lessons } from '@app/families';
import { dayOf } from '@app/scheduling';
import type { Letter } from './family-letters.js';
import { personName, plainName } from './names.js';

interface School {
  slug: string;
  zone: string;
  kinds: FamilySwitch[];
  /** Now, as the database has it. */
  moment: Date;
}

/** Writes mails about lessons: what is new of them, and those of tomorrow. */
@Injectable()
export class LessonLetters {
  constructor(
    private readonly db: Database,
    private readonly news: LessonNews,
    private readonly evenings: Evenings,
    private readonly people: FamilyPeople,
    private readonly lessons: Lessons,
    private readonly env: Env,
  ) {}

  /** @returns null if there is nothing new, or nobody to tell at this address */
  async ofNews(organizationId: string, userId: string, to: string): Promise<Letter | null> {
    const { slug, zone, kinds } = await this.school(organizationId);
    const reader = await this.db.transaction({ organizationId }, () => this.readerOf(organizationId, userId, to));
    // Whoever is not mailed is not said to have been told, either.
    const letter = reader && (await this.news.letter(organizationId, userId, kinds));
    if (!letter) return null;
    const { news, sessions, settled } = letter;
    return this.db.transaction({ organizationId }, async () => {
      const known = await this.lessons.named(organizationId, userId, news.flatMap(({ told, now }) => [told, now])); // prettier-ignore
      const lines = news
        .map(({ kind }, index) => ({ kind, told: known[2 * index] ?? null, now: known[2 * index + 1] ?? null }))
        .toSorted((one, other) => startOf(one) - startOf(other))
        .map(({ kind, told, now }) => lineOf(kind, told, now, zone));
      const about = { what: whatOf(news.map(({ kind }) => kind)) };
      const link = this.linkTo(slug, sessions);
      return { firstName: reader.firstName, link, lines, about, settled, token: reader.token };
    });
  }

  /** @param since when it was queued @returns null if there is no lesson tomorrow, or that evening is over */
  async ofTomorrow(organizationId: string, userId: string, to: string, since: Date): Promise<Letter | null> {
    const { slug, zone, kinds, moment } = await this.school(organizationId);
    const today = dayOf(moment, zone);
    if (!kinds.includes('lessons_tomorrow') || dayOf(since, zone) !== today) return null;
    return this.db.transaction({ organizationId }, async () => {
      const reader = await this.readerOf(organizationId, userId, to);
      if (!reader) return null;
      const ahead = await this.evenings.lessons(organizationId, userId, today, zone);
      if (ahead.length === 0) return null;
      const known = ahead.map((one) => one.known);
      const lessons = (await this.lessons.named(organizationId, userId, known)).flatMap((lesson) => lesson ?? []);
      const lines = lessons.map((lesson) => `${timesOf(lesson, zone)}: ${describe(lesson)}`);
      const about = { count: lines.length, day: dayIn(lessons[0]!.at, zone) };
      const link = this.linkTo(slug, ahead.map(({ id }) => id)); // prettier-ignore
      return { firstName: reader.firstName, link, lines, about, token: reader.token };
    });
  }

  /** Straight to a lesson; of several, to the reader's lessons. */
  private linkTo(slug: string, sessions: string[]): string {
    const [only, ...more] = new Set(sessions);
    return `${this.env.portalUrl}/my/${slug}${only && more.length === 0 ? `/lessons/${only}` : ''}`;
  }

  private async readerOf(organizationId: string, userId: string, to: string) {
    return this.people.at(organizationId, await this.people.find(organizationId, [userId]), to);
  }

  private async school(organizationId: string): Promise<School> {
    const [[school]] = await this.db.read<[School]>(
      { organizationId },
      sql`SELECT slug, time_zone AS zone, clock_timestamp()::timestamptz(3) AS moment, ARRAY(SELECT kind FROM family_switches WHERE organization_id = ${organizationId}) AS kinds
        FROM organizations WHERE id = ${organizationId}`,
    );
    return school!;
  }
}

const startOf = ({ told, now }: { told: LessonInMail | null; now: LessonInMail | null }) => (now ?? told)!.at.getTime();

const WORDS: Partial<Record<FamilySwitch, string>> = {
  lessons_booked: 'booked',
  lessons_moved: 'changed',
  lessons_cancelled: 'cancelled',
};

/** `A lesson was booked`, `3 lessons were cancelled`, `Changes to 4 lessons`. */
function whatOf(kinds: FamilySwitch[]): string {
  const [first] = kinds as [FamilySwitch];
  if (!kinds.every((kind) => kind === first)) return `Changes to ${kinds.length} lessons`;
  return kinds.length === 1 ? `A lesson was ${WORDS[first]}` : `${kinds.length} lessons were ${WORDS[first]}`;
}

function lineOf(kind: FamilySwitch, told: LessonInMail | null, now: LessonInMail | null, zone: string): string {
  const lesson = (now ?? told)!;
  const when = `${dayIn(lesson.at, zone)}, ${timesOf(lesson, zone)}`;
  if (kind !== 'lessons_moved')
    return `${kind === 'lessons_booked' ? 'Booked' : 'Cancelled'}: ${describe(lesson)}, ${when}`;
  const was = told!;
  const moved = was.at.getTime() !== lesson.at.getTime() || was.until.getTime() !== lesson.until.getTime();
  const before = moved ? `It was ${dayIn(was.at, zone)}, ${timesOf(was, zone)}.` : `It was ${describe(was)}.`;
  return `Changed: ${describe(lesson)}, ${when}. ${before}`;
}

/** `Maths with Tilly D. for Hana and Kai online (https://meet.example.org/tilly)` */
function describe({ subject, tutor, students, mode, url, place }: LessonInMail): string {
  const names = students.map(personName).filter(Boolean);
  return [
    plainName(subject ?? '') || 'Lesson',
    ...(tutor ? [`with ${personName(tutor)}`] : []),
    ...(names.length > 0 ? [`for ${new Intl.ListFormat('en-AU').format(names)}`] : []),
    ...(mode ? [mode === 'online' ? 'online' : 'in person'] : []),
    ...(place && mode !== 'online' ? [`at ${plainName(place)}`] : []),
    ...(url && mode !== 'in_person' ? [`(${url})`] : []),
  ].join(' ');
}

/** `Tuesday 3 December` */
const dayIn = (at: Date, zone: string): string =>
  new Intl.DateTimeFormat('en-AU', { weekday: 'long', day: 'numeric', month: 'long', timeZone: zone }).format(at);

/** `4:00 pm to 5:00 pm AEDT` */
function timesOf({ at, until }: LessonInMail, zone: string): string {
  const hour = { hour: 'numeric', minute: '2-digit', timeZone: zone } as const;
  const from = new Intl.DateTimeFormat('en-AU', hour).format(at);
  return `${from} to ${new Intl.DateTimeFormat('en-AU', { ...hour, timeZoneName: 'short' }).format(until)}`;
}
