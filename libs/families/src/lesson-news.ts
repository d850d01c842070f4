import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import { decide, newsOf, type News, type Telling, timesAfter } from './decide.js';
import { FamilyPeople } from './family-people.js';
import { partiesOf, stillConcerned } from './lesson-parties.js';
import { Rounds } from './rounds.js';
import type { FamilySwitch } from './switches.js';

/** Events in one go. */
const PORTION = 1_000;

interface Row extends Telling {
  userId: string;
  sessionId: string;
  startsAt: Date;
  /** When a mail is due, or was, that says what is new. */
  mailAt: Date | null;
  /** Whether its end is news for them. */
  concerned: boolean;
  /** It has begun, or is completed: nobody is told any more. */
  over: boolean;
}

/** What a mail says of lessons. */
export interface LessonLetter {
  news: News[];
  /** Which lessons these are that somebody can still look at. */
  sessions: string[];
  /** Called once it has been sent: from then on its reader knows; or if it was not. If neither is, nobody knows whether they do. */
  settled: (sent: boolean) => Promise<void>;
}

/**
 * Tells tutors and families what becomes of lessons ahead: what they were told last is compared with what is so, when the feed of events
 * says that something happened, and again just before a mail is sent. So changes within ten minutes are one mail, and what is as it was is none.
 */
@Injectable()
export class LessonNews {
  constructor(
    private readonly db: Database,
    private readonly rounds: Rounds,
    private readonly people: FamilyPeople,
  ) {}

  /** Looks at what has happened since the last time, in a transaction of its own. @returns whether there may be more */
  gather(organizationId: string, kinds: FamilySwitch[]): Promise<boolean> {
    return this.db.transaction({ organizationId }, async () => {
      const { position, moment } = await this.rounds.open(organizationId);
      if (position === null) return this.begin(organizationId);
      const [happened] = await this.db.query<{ last: string | null; many: boolean; sessions: string[] }>(sql`
        SELECT max(number)::text AS last, count(*) = ${PORTION} AS many, coalesce(array_agg(DISTINCT session) FILTER (WHERE session IS NOT NULL), '{}') AS sessions
        FROM (SELECT number, CASE resource WHEN 'session' THEN resource_id WHEN 'lesson_participant' THEN (data ->> 'session_id')::uuid END AS session
          FROM events WHERE organization_id = ${organizationId} AND number > ${position} ORDER BY number LIMIT ${PORTION}) e`);
      const { last, many, sessions } = happened!;
      if (last === null) return false;
      if (sessions.length > 0) await this.look(organizationId, kinds, sessions, moment);
      await this.db.query(sql`UPDATE family_rounds SET position = ${last} WHERE organization_id = ${organizationId}`);
      return many;
    });
  }

  /**
   * What is new for somebody, just before it is mailed; null if nothing is. That a mail says so is stored before it is sent: a worker may be
   * killed when the server has accepted it, and by the next try the lesson may be as it was.
   *
   * @param kinds what the organization has switched on now
   */
  async letter(organizationId: string, userId: string, kinds: FamilySwitch[]): Promise<LessonLetter | null> {
    return this.db.transaction({ organizationId }, async () => {
      // Whoever is gathering has finished, and what they add from now on is due later than this.
      const { moment } = await this.rounds.open(organizationId);
      const due = sql`user_id = ${userId} AND mail_at IS NOT NULL`;
      const rows = await this.rows(
        organizationId,
        due,
        sql`s.id IN (SELECT session_id FROM lesson_tellings WHERE organization_id = ${organizationId} AND ${due})`,
      );
      const mine = rows.filter((row) => row.userId === userId && row.mailAt);
      const said = mine.flatMap((row) => {
        const news = newsOf(row);
        return news &&
          kinds.includes(news.kind) &&
          timesAfter(moment, row).length > 0 &&
          !row.over &&
          (row.now ?? row.concerned)
          ? [{ row, news }]
          : [];
      });
      if (said.length === 0) {
        await this.tell(organizationId, mine);
        return null;
      }
      const telling = said.map(({ row }) => row);
      await this.doubt(organizationId, telling.map((row) => ({ ...row, doubts: [...row.doubts, row.now] }))); // prettier-ignore
      const settled = (sent: boolean) =>
        this.db.transaction({ organizationId }, () =>
          sent ? this.tell(organizationId, mine) : this.doubt(organizationId, telling),
        );
      const sessions = said.flatMap(({ row }) => (row.now ? [row.sessionId] : []));
      return { news: said.map(({ news }) => news), sessions, settled };
    });
  }

  /** What is booked when mails are switched on counts as told. Events that come after this position are looked at again, and find it so. */
  private async begin(organizationId: string): Promise<false> {
    await this.db.query(sql`
      UPDATE family_rounds SET position = coalesce((SELECT number FROM events WHERE organization_id = ${organizationId}
        ORDER BY number DESC LIMIT 1), 0) WHERE organization_id = ${organizationId}`);
    await this.db.query(sql`DELETE FROM lesson_tellings WHERE organization_id = ${organizationId}`);
    await this.db.query(sql`
      INSERT INTO lesson_tellings (organization_id, user_id, session_id, starts_at, told)
      SELECT ${organizationId}, user_id, session_id, starts_at, known FROM (${partiesOf(organizationId, sql`true`)}) p`);
    return false;
  }

  private async look(organizationId: string, kinds: FamilySwitch[], sessions: string[], moment: Date): Promise<void> {
    const rows = await this.rows(organizationId, sql`t.session_id = ANY (${sessions})`, sql`s.id = ANY (${sessions})`);
    const due = await this.people.waiting(organizationId, 'lesson_news', [...new Set(rows.map((row) => row.userId))]);
    const wanted = new Map<string, Date>();
    const hurried = new Set<string>();
    const quiet: Row[] = [];
    const loud: (Row & { at: Date })[] = [];
    for (const row of rows) {
      const decision = decide(row, kinds, due.get(row.userId) ?? null, moment);
      if (!decision.say || row.over || !(row.now ?? row.concerned)) {
        quiet.push(row);
        continue;
      }
      loud.push({ ...row, at: decision.at });
      if (decision.urgent) hurried.add(row.userId);
      if (!due.has(row.userId))
        wanted.set(
          row.userId,
          new Date(Math.min(decision.at.getTime(), wanted.get(row.userId)?.getTime() ?? Infinity)),
        );
    }
    await this.people.hurry(organizationId, 'lesson_news', [...hurried]);
    const mails = [...wanted].map(([id, notBefore]) => ({ id, aboutId: id, notBefore }));
    const reached = await this.people.find(organizationId, [...wanted.keys()]);
    await this.people.mail(organizationId, 'lesson_news', reached, mails);
    const waits = ({ userId }: Row) => !wanted.has(userId) || reached.some(({ id }) => id === userId);
    const told = loud.filter(waits);
    await this.tell(organizationId, [...quiet, ...loud.filter((row) => !waits(row))], true);
    await this.db.query(sql`
      INSERT INTO lesson_tellings AS t (organization_id, user_id, session_id, starts_at, mail_at)
      SELECT ${organizationId}, * FROM unnest(${told.map((row) => row.userId)}::uuid[], ${told.map((row) => row.sessionId)}::uuid[],
        ${told.map((row) => row.startsAt.toISOString())}::timestamptz[], ${told.map((row) => row.at.toISOString())}::timestamptz[])
      ON CONFLICT (organization_id, user_id, session_id) DO UPDATE SET mail_at = excluded.mail_at, starts_at = excluded.starts_at`);
  }

  /** What has been told of lessons, beside what is so. @param told about the telling `t` @param which about the session `s` */
  private rows(organizationId: string, told: Sql, which: Sql): Promise<Row[]> {
    return this.db.query<Row>(sql`
      SELECT user_id AS "userId", session_id AS "sessionId", coalesce(n.starts_at, t.starts_at) AS "startsAt", t.told, coalesce(t.doubts, '[]') AS doubts, n.known AS now,
        t.mail_at AS "mailAt", ${stillConcerned(organizationId)} AS concerned,
        EXISTS (SELECT FROM sessions x WHERE x.organization_id = ${organizationId} AND x.id = session_id
          AND (x.status = 'completed' OR x.status = 'scheduled' AND x.starts_at <= clock_timestamp()::timestamptz(3))) AS over
      FROM (SELECT * FROM lesson_tellings t WHERE t.organization_id = ${organizationId} AND ${told}) t
      FULL JOIN (${partiesOf(organizationId, which)}) n USING (user_id, session_id)`);
  }

  /** What mails to them may have said, until it is known whether they have arrived. */
  private async doubt(organizationId: string, rows: Row[]): Promise<void> {
    await this.db.query(sql`
      UPDATE lesson_tellings t SET doubts = nullif(d.doubts, '[]')
      FROM unnest(${rows.map((row) => row.userId)}::uuid[], ${rows.map((row) => row.sessionId)}::uuid[],
        ${rows.map((row) => JSON.stringify(row.doubts))}::jsonb[]) d (user_id, session_id, doubts)
      WHERE t.organization_id = ${organizationId} AND t.user_id = d.user_id AND t.session_id = d.session_id`);
  }

  /** From now on this is what they know. A mail that came to be due meanwhile stays so, unless `forced`. */
  private async tell(organizationId: string, rows: Row[], forced = false): Promise<void> {
    if (rows.length === 0) return;
    await this.db.query(sql`
      INSERT INTO lesson_tellings AS t (organization_id, user_id, session_id, starts_at, told, mail_at)
      SELECT ${organizationId}, * FROM unnest(${rows.map((row) => row.userId)}::uuid[], ${rows.map((row) => row.sessionId)}::uuid[],
        ${rows.map((row) => row.startsAt.toISOString())}::timestamptz[], ${rows.map((row) => row.now && JSON.stringify(row.now))}::jsonb[],
        ${rows.map((row) => (forced ? null : (row.mailAt?.toISOString() ?? null)))}::timestamptz[])
      ON CONFLICT (organization_id, user_id, session_id) DO UPDATE SET told = excluded.told, doubts = NULL, starts_at = excluded.starts_at,
        mail_at = CASE WHEN NOT ${forced} AND t.mail_at IS DISTINCT FROM excluded.mail_at THEN t.mail_at END`);
    await this.db.query(sql`
      DELETE FROM lesson_tellings WHERE organization_id = ${organizationId} AND session_id = ANY (${rows.map((row) => row.sessionId)}::uuid[])
        AND told IS NULL AND mail_at IS NULL`);
  }
}
