import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Somebody signed in to the portal with one browser. Read and written by the functions of the schema alone. */
@Entity('portal_sessions')
export class PortalSession {
  @PrimaryColumn('uuid')
  id: string;

  /** SHA-256 of what the cookie holds. */
  @Column({ name: 'secret_hash', type: 'bytea' })
  secretHash: Buffer;

  @Column({ name: 'user_id', type: 'uuid' })
  userId: string;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column({ name: 'last_seen_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  lastSeenAt: Date;

  @Column({ name: 'user_agent', type: 'text' })
  userAgent: string;

  @Column('text')
  network: string;
}
