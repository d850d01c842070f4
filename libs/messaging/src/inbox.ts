import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, INBOX, IS_STAFF, transition } from '@app/database';
import { Refused } from '@app/rules';
import { maySeeLessons, seenLesson } from '@app/scheduling';

/** What a guest writes, with a form of a website. */
export interface GuestMessage {
  guestName: string;
  guestEmail: string;
  message: string;
  /** Whom it is about. */
  subjectTutorId: string | null;
}

/** What was written to the organization itself. */
@Injectable()
export class Inbox {
  constructor(private readonly db: Database) {}

  /** @returns its id @throws Refused for an unknown tutor */
  async receive(
    organizationId: string,
    { guestName, guestEmail, message, subjectTutorId }: GuestMessage,
  ): Promise<string> {
    const id = uuidv7();
    if (subjectTutorId !== null) {
      await this.db.lockPeople(organizationId, [subjectTutorId]);
      const [tutor] = await this.db.query(sql`
        SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${subjectTutorId} AND ${IS_STAFF}
          AND status = 'accepted'`);
      if (!tutor) throw Refused.notFound();
    }
    await this.db.query(sql`
      INSERT INTO inbox_messages (id, organization_id, guest_name, guest_email, message, subject_tutor_id)
      VALUES (${id}, ${organizationId}, ${guestName}, ${guestEmail}, ${message}, ${subjectTutorId})`);
    return id;
  }

  /**
   * Records what somebody of the organization writes, inside the ambient transaction.
   *
   * @param sessionId the lesson that it is about
   * @returns its id
   * @throws Refused for somebody who does not belong here, for a lesson that they may not see, and for the message
   */
  async write(organizationId: string, userId: string, message: string, sessionId: string | null): Promise<string> {
    const id = uuidv7();
    // Before the person, as whoever ends a membership does.
    if (sessionId)
      await this.db.query(
        sql`SELECT FROM sessions WHERE organization_id = ${organizationId} AND id = ${sessionId} FOR KEY SHARE`,
      );
    await this.db.lockPeople(organizationId, [userId]);
    const seen = sessionId
      ? seenLesson(organizationId, userId, sessionId)
      : sql`SELECT ${maySeeLessons(organizationId, userId)} AS may`;
    const [found] = await this.db.query<{ may?: boolean }>(seen);
    if (!found || found.may === false) throw Refused.notFound();
    await this.db.query(sql`
      INSERT INTO inbox_messages (id, organization_id, from_user_id, session_id, message)
      VALUES (${id}, ${organizationId}, ${userId}, ${sessionId}, ${message})`);
    return id;
  }

  /**
   * Marks a message as read, or archives it, inside the ambient transaction.
   *
   * @returns whether that changed it
   * @throws Refused for an unknown message, and to read an archived one
   */
  change(organizationId: string, id: string, action: (typeof INBOX.actions)[number]): Promise<boolean> {
    return transition(this.db, 'inbox_messages', INBOX, { organizationId, id, action });
  }
}
