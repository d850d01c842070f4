import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A tutoring organization: the tenant that everything else belongs to. */
@Entity('organizations')
export class Organization {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  slug: string;

  @Column({ name: 'time_zone', type: 'text', default: 'Australia/Melbourne' })
  timeZone: string;

  @Column({ type: 'text', default: 'AUD' })
  currency: string;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  updatedAt: Date;
}
