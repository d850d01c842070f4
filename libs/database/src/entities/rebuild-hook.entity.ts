import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Whom to tell that the site of an organization or of a brand has to be built anew. The secret is sealed. */
@Entity('rebuild_hooks')
export class RebuildHook {
  @PrimaryColumn({ type: 'text' })
  target: string;

  @Column({ name: 'organization_id', type: 'uuid', nullable: true })
  organizationId: string | null;

  @Column({ type: 'text' })
  url: string;

  @Column({ type: 'bytea' })
  secret: Buffer;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
