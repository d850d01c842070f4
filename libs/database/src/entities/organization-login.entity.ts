import { Entity, PrimaryColumn } from 'typeorm';

/** A login that an organization sees. Kept by the database: read only. */
@Entity('organization_logins')
export class OrganizationLogin {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ name: 'user_id', type: 'uuid' })
  userId: string;

  /** The table whose row shows it. */
  @PrimaryColumn({ type: 'text' })
  source: string;
}
