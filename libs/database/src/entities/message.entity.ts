import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A message of a conversation. */
@Entity('messages')
export class Message {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'conversation_id', type: 'uuid' })
  conversationId: string;

  @Column({ name: 'sender_id', type: 'uuid', nullable: true })
  senderId: string | null;

  @Column({ type: 'text' })
  content: string;

  @Column({ name: 'message_type', type: 'text', default: 'text' })
  messageType: 'text' | 'image' | 'file' | 'system';

  @Column({ type: 'text', default: 'everyone' })
  visibility: 'everyone' | 'private';

  @Column({ name: 'reply_to_id', type: 'uuid', nullable: true })
  replyToId: string | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
