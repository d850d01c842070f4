import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A way into an organization: a token or code, kept as its hash. `sealed` holds the code of a standing join code. A mail
 * carries a second secret (`proofHash`), which proves the address that it was sent to.
 */
@Entity('invites')
export class Invite {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ type: 'text' })
  scope: 'organization' | 'classroom' | 'group' | 'tutor_student' | 'parent' | 'account';

  @Column({ type: 'text' })
  role: 'tutor' | 'admin' | 'student' | 'parent';

  @Column({ name: 'target_id', type: 'uuid' })
  targetId: string;

  @Column({ name: 'subject_id', type: 'uuid', nullable: true })
  subjectId: string | null;

  @Column({ type: 'text', nullable: true })
  email: string | null;

  /** The login that had this address when the invite was made. */
  @Column({ name: 'user_id', type: 'uuid', nullable: true })
  userId: string | null;

  @Column({ name: 'secret_hash', type: 'bytea' })
  secretHash: Buffer;

  @Column({ name: 'proof_hash', type: 'bytea', nullable: true })
  proofHash: Buffer | null;

  @Column({ type: 'boolean', default: false })
  standing: boolean;

  @Column({ type: 'bytea', nullable: true })
  sealed: Buffer | null;

  @Column({ name: 'api_key_id', type: 'uuid', nullable: true })
  apiKeyId: string | null;

  @Column({ name: 'expires_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  expiresAt: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  revokedAt: Date | null;

  @Column({ name: 'accepted_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  acceptedAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
