import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A thread of messages. `lastMessageAt` is kept by the database. `OrganizationConversation` tells who sees it.
 *
 * No column names its default: TypeORM would ask for the value back (RETURNING), which row-level security refuses for
 * a row that the writer does not see (yet).
 */
@Entity('conversations')
export class Conversation {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'text' })
  type: 'direct' | 'triad' | 'group' | 'classroom_feed';

  @Column({ name: 'classroom_id', type: 'uuid', nullable: true })
  classroomId: string | null;

  @Column({ type: 'text', nullable: true })
  title: string | null;

  @Column({ name: 'last_message_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  lastMessageAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3 })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamp with time zone', precision: 3 })
  updatedAt: Date;
}
