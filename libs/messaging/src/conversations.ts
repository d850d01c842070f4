import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, recordLock } from '@app/database';
import { Refused } from '@app/rules';

/** A conversation of several people. */
export interface NewConversation {
  type: 'group' | 'classroom_feed';
  title: string | null;
  /** Of a `classroom_feed`. */
  classroomId: string | null;
  participantIds: readonly string[];
}

/** The fields to change; undefined ones stay. */
export interface ConversationChange {
  title?: string | null;
  participantIds?: readonly string[];
}

const NO_STAFF = 'Somebody who teaches here has to take part.';

/** Conversations of several people, in the ambient transaction. The database decides who may take part. */
@Injectable()
export class Conversations {
  constructor(private readonly db: Database) {}

  /** @returns its id @throws Refused for an unknown classroom, for who may not take part, and without anybody of the staff */
  async open(organizationId: string, { type, title, classroomId, participantIds }: NewConversation): Promise<string> {
    const id = uuidv7();
    const opened = sql`SELECT open_conversation(${id}, ${type}, ${classroomId}, ${title}, ${[...participantIds]}::uuid[],
      ${seatsFor(participantIds)}::uuid[]) AS done`;
    if (!(await this.done(opened))) throw Refused.notFound();
    await this.requireStaff(organizationId, participantIds);
    return id;
  }

  /** @throws Refused for an unknown or direct conversation, for who may not take part, and without anybody of the staff */
  async change(organizationId: string, id: string, { title, participantIds }: ConversationChange): Promise<void> {
    await this.db.lock(recordLock('conversations', id));
    const [seen] = await this.db.query(sql`
      SELECT FROM organization_conversations WHERE organization_id = ${organizationId} AND conversation_id = ${id}`);
    if (!seen) throw Refused.notFound();
    if (participantIds !== undefined) {
      const seated = sql`SELECT seat_people(${id}, ${[...participantIds]}::uuid[], ${seatsFor(participantIds)}::uuid[]) AS done`;
      if (!(await this.done(seated))) throw Refused.notFound();
      await this.requireStaff(organizationId, participantIds);
    }
    if (title !== undefined && !(await this.done(sql`SELECT title_conversation(${id}, ${title}) AS done`)))
      throw Refused.notFound();
  }

  /** So no key opens what its organization does not see, or talks in it to a child alone. */
  private async requireStaff(organizationId: string, people: readonly string[]): Promise<void> {
    const [staff] = await this.db.query(sql`
      SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ANY (${[...people]}::uuid[])
        AND role <> 'student' AND status = 'accepted' LIMIT 1`);
    if (!staff) throw Refused.invalid(NO_STAFF, 'participant_ids');
  }

  private async done(statement: ReturnType<typeof sql>): Promise<boolean> {
    const [row] = await this.db.query<{ done: boolean }>(statement);
    return row!.done;
  }
}

const seatsFor = (people: readonly string[]): string[] => people.map(() => uuidv7());
