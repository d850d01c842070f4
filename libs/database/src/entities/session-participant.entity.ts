import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A student invited to a session, and what became of it. */
@Entity('session_participants')
export class SessionParticipant {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ name: 'session_id', type: 'uuid' })
  sessionId: string;

  @Column({ name: 'student_id', type: 'uuid' })
  studentId: string;

  @Column({ type: 'text', default: 'invited' })
  status: 'invited' | 'accepted' | 'declined' | 'cancelled';

  @Column({ type: 'text', nullable: true })
  attendance: 'present' | 'absent' | 'late' | null;

  @Column({ name: 'invited_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  invitedAt: Date | null;

  @Column({ name: 'responded_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  respondedAt: Date | null;

  @Column({ name: 'cancelled_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  cancelledAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
