import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One write, done or refused: who, what, with which result. Append-only. */
@Entity('audit_log')
export class AuditEntry {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ name: 'api_key_id', type: 'uuid', nullable: true })
  apiKeyId: string | null;

  @Column({ type: 'text' })
  operation: string;

  @Column({ name: 'request_id', type: 'text' })
  requestId: string;

  @Column({ type: 'integer' })
  status: number;

  @Column({ type: 'text' })
  result: string;

  @Column({ type: 'jsonb', default: () => "'{}'" })
  details: object;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
