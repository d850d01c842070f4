import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A login that an organization sees, and through which rows. Kept by the database: read only. */
@Entity('organization_logins')
export class OrganizationLogin {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ name: 'user_id', type: 'uuid' })
  userId: string;

  /** The table of the rows. */
  @PrimaryColumn({ type: 'text' })
  source: string;

  @Column({ type: 'integer' })
  ties: number;
}
