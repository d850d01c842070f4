import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Somebody in a conversation, active until `leftAt`.
 *
 * No column names its default: TypeORM would ask for the value back (RETURNING), which row-level security refuses for
 * a row that the writer does not see (yet).
 */
@Entity('conversation_participants')
export class ConversationParticipant {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'conversation_id', type: 'uuid' })
  conversationId: string;

  @Column({ name: 'user_id', type: 'uuid' })
  userId: string;

  @Column({ type: 'text' })
  role: 'tutor' | 'student' | 'parent' | 'admin';

  @Column({ name: 'joined_at', type: 'timestamp with time zone', precision: 3 })
  joinedAt: Date;

  @Column({ name: 'left_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  leftAt: Date | null;
}
