import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A key of an organization for the API. The key itself is not stored, only its SHA-256. */
@Entity('api_keys')
export class ApiKey {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'key_hash', type: 'bytea' })
  keyHash: Buffer;

  @Column({ name: 'first_four', type: 'text' })
  firstFour: string;

  @Column({ name: 'last_four', type: 'text' })
  lastFour: string;

  @Column({ type: 'text', array: true, default: () => "'{read}'" })
  scopes: string[];

  @Column({ name: 'platform_blog', type: 'boolean', default: false })
  platformBlog: boolean;

  @Column({ name: 'created_by', type: 'uuid', nullable: true })
  createdBy: string | null;

  @Column({ name: 'expires_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  expiresAt: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  revokedAt: Date | null;

  @Column({ name: 'last_used_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  lastUsedAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
