import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { hashOfToken } from '@app/config';
import { Database } from '@app/database';
import { Refused } from '@app/rules';
import { maySeeLessons, type Reach, removedLessons, type SeenLesson, seenLessons } from './seen-lessons.js';

const DAY_MS = 86_400_000;

/** The days that a calendar covers, back and ahead, and the most lessons in it. */
const [DAYS_BACK, DAYS_AHEAD, MOST] = [60, 366, 2_000];

/** A calendar, as its address shows it. */
export interface FeedOfLessons {
  organization: string;
  lessons: SeenLesson[];
}

/** The secret addresses of calendars: one for each person and organization, of which the database has the hash. */
@Injectable()
export class CalendarFeeds {
  constructor(private readonly db: Database) {}

  /** Where the person of a session has one, and since when. @param secret the hash of the session's */
  of(secret: Buffer | null): Promise<{ organizationId: string; since: Date }[]> {
    return this.db.lookUp(sql`SELECT organization_id AS "organizationId", since FROM calendar_feeds_of(${secret})`);
  }

  /** A new one, in the place of any other. @returns what its address ends with, which nobody can look up later */
  async make(organizationId: string, userId: string): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const hash = hashOfToken(token);
    await this.db.transaction({ organizationId }, async () => {
      await this.db.lockPeople(organizationId, [userId]);
      const [person] = await this.db.query(sql`SELECT WHERE ${maySeeLessons(organizationId, userId)}`);
      if (!person) throw Refused.notFound();
      await this.db.query(sql`
        INSERT INTO calendar_feeds (organization_id, user_id, token_hash) VALUES (${organizationId}, ${userId}, ${hash})
        ON CONFLICT (organization_id, user_id) DO UPDATE SET token_hash = ${hash}, created_at = now()`);
    });
    return token;
  }

  /** {@link revoke}, as the person whose it is. */
  async end(organizationId: string, userId: string): Promise<void> {
    await this.db.transaction({ organizationId }, () => this.revoke(organizationId, userId));
  }

  /** In the ambient transaction. @throws Refused without one */
  async revoke(organizationId: string, userId: string): Promise<void> {
    const ended = await this.db.count(
      sql`DELETE FROM calendar_feeds WHERE organization_id = ${organizationId} AND user_id = ${userId}`,
    );
    if (ended === 0) throw Refused.notFound();
  }

  /** What the person may see now; null if there is no such address. */
  async open(token: string): Promise<FeedOfLessons | null> {
    const [feed] = await this.db.lookUp<{ organizationId: string; userId: string }>(
      sql`SELECT organization_id AS "organizationId", user_id AS "userId" FROM calendar_feed(${hashOfToken(token)})`,
    );
    if (!feed) return null;
    const { organizationId, userId } = feed;
    const now = Date.now();
    const reach: Reach = {
      from: new Date(now - DAYS_BACK * DAY_MS),
      to: new Date(now + DAYS_AHEAD * DAY_MS),
      most: MOST,
    };
    const [[organization], lessons, removed] = await this.db.read<[{ name: string }, SeenLesson, SeenLesson]>(
      { organizationId },
      sql`SELECT name FROM organizations WHERE id = ${organizationId} AND (${maySeeLessons(organizationId, userId)})`,
      seenLessons(organizationId, userId, reach),
      removedLessons(organizationId, userId, reach),
    );
    return organization ? { organization: organization.name, lessons: [...lessons, ...removed] } : null;
  }
}
