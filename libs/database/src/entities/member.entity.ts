import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A person in an organization, with a role. The `supplied…` columns are what the organization said of a login that
 * existed already, and all it is shown of that person until they accept: `acceptedAt` says since when it sees the login.
 */
@Entity('members')
export class Member {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ name: 'user_id', type: 'uuid' })
  userId: string;

  @Column({ type: 'text' })
  role: 'owner' | 'admin' | 'tutor' | 'student';

  @Column({ type: 'text', default: 'accepted' })
  status: 'accepted' | 'pending' | 'archived';

  @Column({ name: 'supplied_first_name', type: 'text', nullable: true })
  suppliedFirstName: string | null;

  @Column({ name: 'supplied_last_name', type: 'text', nullable: true })
  suppliedLastName: string | null;

  @Column({ name: 'supplied_email', type: 'text', nullable: true })
  suppliedEmail: string | null;

  @Column({ name: 'supplied_phone', type: 'text', nullable: true })
  suppliedPhone: string | null;

  @Column({ name: 'invited_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  invitedAt: Date | null;

  @Column({ name: 'accepted_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  acceptedAt: Date | null;

  /** When somebody who joined as a tutor by a reusable code asked to be let in. */
  @Column({ name: 'approval_requested_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  approvalRequestedAt: Date | null;

  @Column({ name: 'archived_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  archivedAt: Date | null;

  /** Whether the tutor profile is published, if there is one. */
  @Column({ name: 'profile_published', type: 'boolean', default: false })
  profilePublished: boolean;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
