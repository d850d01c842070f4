import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Work that a write promised, committed with it. `payload` is sealed; purged some time after it is done. */
@Entity('outbox')
export class OutboxMessage {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid', nullable: true })
  organizationId: string | null;

  @Column({ type: 'text' })
  topic: 'email' | 'rebuild';

  @Column({ type: 'text' })
  kind: string;

  @Column({ type: 'text' })
  recipient: string;

  /** Of the link in a mail. */
  @Column({ name: 'invite_id', type: 'uuid', nullable: true })
  inviteId: string | null;

  @Column({ type: 'bytea', nullable: true })
  payload: Buffer | null;

  @Column({ type: 'text', default: 'queued' })
  status: 'queued' | 'sent' | 'failed' | 'dead' | 'suppressed';

  @Column({ type: 'integer', default: 0 })
  attempts: number;

  @Column({ name: 'due_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  dueAt: Date;

  @Column({ name: 'leased_by', type: 'text', nullable: true })
  leasedBy: string | null;

  @Column({ name: 'leased_until', type: 'timestamp with time zone', precision: 3, nullable: true })
  leasedUntil: Date | null;

  @Column({ name: 'last_error', type: 'text', nullable: true })
  lastError: string | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column({ name: 'finished_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  finishedAt: Date | null;
}
