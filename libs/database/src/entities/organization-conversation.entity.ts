import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A conversation as an organization sees it, with what lists filter by. Kept by the database: read only. */
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
}
