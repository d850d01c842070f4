import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, type Tables } from '@app/database';
import { firstOwner } from '@app/people';
import { Refused } from '@app/rules';

/** A message that an organization sends in the name of one of its managers. */
export interface NewMessage {
  content: string;
  /** An owner or admin; null for the first owner. */
  senderId: string | null;
  /** A conversation of the sender, or the person to write to. */
  to: { conversationId: string } | { recipientId: string };
  visibility: Tables['messages']['visibility'];
  replyToId: string | null;
}

/** Sends messages, in the ambient transaction. */
@Injectable()
export class Messages {
  constructor(private readonly db: Database) {}

  /**
   * Adds a message to a conversation. Two people have one direct conversation: the first message to somebody opens it.
   *
   * @returns its id, and for the audit row in whose name it was sent
   * @throws Refused for an unknown person, conversation or message to reply to, for a sender who is no manager or does not
   *   take part, and if there is no owner to send it (`no_sender`)
   */
  async send(
    organizationId: string,
    { content, senderId, to, visibility, replyToId }: NewMessage,
  ): Promise<{ id: string; audit: { conversation_id: string; user_id: string } }> {
    const sender = await this.senderOf(organizationId, senderId);
    const conversation =
      'recipientId' in to
        ? await this.directWith(sender, to.recipientId)
        : await this.joinedBy(organizationId, sender, to.conversationId);
    if (replyToId) await this.requireReply(organizationId, conversation, replyToId);
    const id = uuidv7();
    await this.db.query(sql`
      INSERT INTO messages (id, organization_id, conversation_id, sender_id, content, visibility, reply_to_id)
      VALUES (${id}, ${organizationId}, ${conversation}, ${sender}, ${content}, ${visibility}, ${replyToId})`);
    return { id, audit: { conversation_id: conversation, user_id: sender } };
  }

  private async senderOf(organizationId: string, wanted: string | null): Promise<string> {
    if (wanted === null) {
      const owner = await firstOwner(this.db, organizationId);
      if (owner) return owner;
      throw Refused.conflict('no_sender', 'The organization has no owner to send this. Name a sender.');
    }
    const [member] = await this.db.query<Pick<Tables['members'], 'role'>>(sql`
      SELECT role FROM members WHERE organization_id = ${organizationId} AND user_id = ${wanted} AND status = 'accepted'`);
    if (!member) throw Refused.notFound();
    if (member.role === 'owner' || member.role === 'admin') return wanted;
    throw Refused.invalid('Only owners and admins can send messages.', 'sender_id');
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
