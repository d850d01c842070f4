import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, type Tables } from '@app/database';
import { Outbox } from '@app/jobs';
import { firstOwner } from '@app/people';
import { Refused } from '@app/rules';

/** A message that an organization sends in the name of one of its staff. */
export interface NewMessage {
  content: string;
  /** An owner, admin, or a tutor who takes part in the conversation; null for the first owner. */
  senderId: string | null;
  /** A conversation of the sender, or the person to write to. */
  to: { conversationId: string } | { recipientId: string };
  visibility: Tables['messages']['visibility'];
  replyToId: string | null;
}

const ONLY_MANAGERS = 'Owners and admins send messages; a tutor only to a conversation in which they take part.';

/** Sends messages, in the ambient transaction. */
@Injectable()
export class Messages {
  constructor(
    private readonly db: Database,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Adds a message to a conversation. Two people have one direct conversation: the first message to somebody opens it.
   *
   * @returns its id, and for the audit row in whose name it was sent
   * @throws Refused for an unknown person, conversation or message to reply to, for a sender who may not send it or does not
   *   take part, and if there is no owner to send it (`no_sender`)
   */
  async send(
    organizationId: string,
    { content, senderId, to, visibility, replyToId }: NewMessage,
  ): Promise<{ id: string; audit: { conversation_id: string; user_id: string } }> {
    const { sender, manages } = await this.senderOf(organizationId, senderId);
    if (!manages && 'recipientId' in to) throw Refused.invalid(ONLY_MANAGERS, 'sender_id');
    const conversation =
      'recipientId' in to
        ? await this.directWith(sender, to.recipientId)
        : await this.joinedBy(organizationId, sender, to.conversationId);
    if (replyToId) await this.requireReply(organizationId, conversation, replyToId);
    const id = uuidv7();
    await this.db.query(sql`
      INSERT INTO messages (id, organization_id, conversation_id, sender_id, content, visibility, reply_to_id)
      VALUES (${id}, ${organizationId}, ${conversation}, ${sender}, ${content}, ${visibility}, ${replyToId})`);
    if (!manages) await this.tellSender(organizationId, sender, conversation, id);
    return { id, audit: { conversation_id: conversation, user_id: sender } };
  }

  /** Deletes a message that the organization wrote: nobody is shown it any more. @throws Refused for an unknown one */
  async remove(organizationId: string, id: string): Promise<void> {
    const removed = await this.db.count(sql`
      UPDATE messages m SET deleted_at = now() WHERE m.organization_id = ${organizationId} AND m.id = ${id}
        AND m.deleted_at IS NULL AND EXISTS (SELECT FROM organization_conversations o
          WHERE o.organization_id = ${organizationId} AND o.conversation_id = m.conversation_id)`);
    if (removed === 0) throw Refused.notFound();
  }

  /** A tutor in whose name somebody else wrote is told, once an hour for each conversation. */
  private async tellSender(organizationId: string, sender: string, conversation: string, id: string): Promise<void> {
    const [told] = await this.db.query(sql`
      SELECT FROM messages WHERE organization_id = ${organizationId} AND conversation_id = ${conversation} AND sender_id = ${sender}
        AND id <> ${id} AND created_at > now() - interval '1 hour' LIMIT 1`);
    if (told) return;
    const [row] = await this.db.query<{ to: string; firstName: string; name: string; timeZone: string }>(sql`
      SELECT u.email AS to, u.first_name AS "firstName", o.name, o.time_zone AS "timeZone" FROM members m
      JOIN users u ON u.id = m.user_id JOIN organizations o ON o.id = m.organization_id
      WHERE m.organization_id = ${organizationId} AND m.user_id = ${sender} AND NOT u.placeholder_email`);
    if (!row) return;
    const { to, firstName, ...organization } = row;
    const mail = { kind: 'written_in_your_name', role: 'tutor', to, firstName, link: null } as const;
    await this.outbox.addEmails({ organizationId, organization }, [mail], 'written_in_your_name');
  }

  private async senderOf(organizationId: string, wanted: string | null): Promise<{ sender: string; manages: boolean }> {
    if (wanted === null) {
      const owner = await firstOwner(this.db, organizationId);
      if (owner) return { sender: owner, manages: true };
      throw Refused.conflict('no_sender', 'The organization has no owner to send this. Name a sender.');
    }
    const [member] = await this.db.query<Pick<Tables['members'], 'role'>>(sql`
      SELECT role FROM members WHERE organization_id = ${organizationId} AND user_id = ${wanted} AND status = 'accepted'`);
    if (!member) throw Refused.notFound();
    if (member.role === 'student') throw Refused.invalid(ONLY_MANAGERS, 'sender_id');
    return { sender: wanted, manages: member.role !== 'tutor' };
  }

  /** The database opens it: it finds also conversations that both have left, which no organization sees. */
  private async directWith(sender: string, recipient: string): Promise<string> {
    if (recipient === sender) throw Refused.invalid('Choose somebody other than the sender.', 'recipient_id');
    const [row] = await this.db.query<{ id: string | null }>(sql`
      SELECT direct_conversation(${sender}, ${recipient}, ${uuidv7()}, ${[uuidv7(), uuidv7()]}::uuid[]) AS id`);
    if (!row?.id) throw Refused.notFound();
    return row.id;
  }

  private async joinedBy(organizationId: string, sender: string, conversation: string): Promise<string> {
    const [found] = await this.db.query<{ joined: boolean }>(sql`
      SELECT EXISTS (SELECT FROM conversation_participants p
        WHERE p.conversation_id = c.conversation_id AND p.user_id = ${sender} AND p.left_at IS NULL) AS joined
      FROM organization_conversations c
      WHERE c.organization_id = ${organizationId} AND c.conversation_id = ${conversation}`);
    if (!found) throw Refused.notFound();
    if (!found.joined) throw Refused.invalid('The sender does not take part in this conversation.', 'conversation_id');
    return conversation;
  }

  private async requireReply(organizationId: string, conversation: string, id: string): Promise<void> {
    const [message] = await this.db.query<{ conversation_id: string }>(sql`
      SELECT conversation_id FROM messages WHERE organization_id = ${organizationId} AND id = ${id} AND deleted_at IS NULL`);
    if (!message) throw Refused.notFound();
    if (message.conversation_id === conversation) return;
    throw Refused.invalid('This message is in another conversation.', 'reply_to_id');
  }
}
