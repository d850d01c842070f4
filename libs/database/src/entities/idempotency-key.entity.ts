import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The stored answer to the first request with an idempotency key, sealed. Kept until expires_at. */
@Entity('idempotency_keys')
export class IdempotencyKey {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ type: 'text' })
  operation: string;

  @PrimaryColumn({ type: 'text' })
  key: string;

  @Column({ name: 'request_hash', type: 'bytea' })
  requestHash: Buffer;

  @Column({ type: 'integer', nullable: true })
  status: number | null;

  @Column({ type: 'bytea', nullable: true })
  answer: Buffer | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column({ name: 'expires_at', type: 'timestamp with time zone', precision: 3 })
  expiresAt: Date;
}
