import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A conversation as an organization sees it, with what lists show of it. Kept by the database: read only. */
@Entity('organization_conversations')
export class OrganizationConversation {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ name: 'conversation_id', type: 'uuid' })
  conversationId: string;

  @Column({ type: 'text' })
  type: 'direct' | 'triad' | 'group' | 'classroom_feed';

  @Column({ name: 'last_message_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  lastMessageAt: Date | null;

  @Column({ name: 'classroom_id', type: 'uuid', nullable: true })
  classroomId: string | null;

  @Column({ type: 'text', nullable: true })
  title: string | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  createdAt: Date | null;

  @Column({ name: 'updated_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  updatedAt: Date | null;

  /** Who is active in it, in the order of joining. */
  @Column({ type: 'json', default: () => `'[]'` })
  participants: { user_id: string; role: string }[];
}
