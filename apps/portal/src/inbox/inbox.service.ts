import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { behind, Database, type INBOX, pageOf, type Position, visiblePerson } from '@app/database';
import { shownName } from '@app/people';

const PAGE = 25;

const addressOf = (alias: string) => raw(visiblePerson(alias).email);

export type InboxState = (typeof INBOX.values)[number];

/** A message, with the names that the organization may see. */
interface MessageView {
  id: string;
  /** Who wrote it: a person of the organization, or the name that a guest gave. */
  sender: string | null;
  /** Where an answer goes. */
  email: string | null;
  lesson: string | null;
  /** The tutor whom it is about. */
  tutor: string | null;
  message: string;
  status: InboxState;
  createdAt: Date;
}

/** What was written to an organization, to be read. */
@Injectable()
export class InboxService {
  constructor(private readonly db: Database) {}

  /** @param status null for what is not archived */
  async messages(
    organizationId: string,
    status: InboxState | null,
    before: Position | null,
  ): Promise<{ messages: MessageView[]; older: Position | null }> {
    const [rows] = await this.db.read<[MessageView]>(
      { organizationId },
      sql`SELECT i.id, i.session_id AS lesson, i.message, i.status, i.created_at AS "createdAt",
          coalesce(i.guest_name, w.name) AS sender, coalesce(i.guest_email, w.email) AS email,
          (SELECT ${shownName('m')} FROM members m LEFT JOIN users u ON u.id = m.user_id
            WHERE m.organization_id = i.organization_id AND m.user_id = i.subject_tutor_id) AS tutor
        FROM inbox_messages i LEFT JOIN LATERAL (
          SELECT ${shownName('m')} AS name, ${addressOf('m')} AS email FROM members m LEFT JOIN users u ON u.id = m.user_id
          WHERE m.organization_id = i.organization_id AND m.user_id = i.from_user_id
          UNION ALL SELECT ${shownName('p')}, ${addressOf('p')} FROM parents p LEFT JOIN users u ON u.id = p.user_id
          WHERE p.organization_id = i.organization_id AND p.user_id = i.from_user_id LIMIT 1) w ON true
        WHERE i.organization_id = ${organizationId}
          AND ${status ? sql`i.status = ${status}` : sql`i.status <> 'archived'`}
          ${behind(before, 'i.created_at', 'i.id')}
        ORDER BY i.created_at DESC, i.id DESC LIMIT ${PAGE + 1}`,
    );
    const { rows: messages, next: older } = pageOf(rows, PAGE, 'createdAt');
    return { messages, older };
  }
}
