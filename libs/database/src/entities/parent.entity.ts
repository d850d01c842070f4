import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A parent that an organization may link to its students. `enrolledAt` is kept by the database: the first link to a
 * child here, null while there is none.
 */
@Entity('parents')
export class Parent {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ name: 'user_id', type: 'uuid' })
  userId: string;

  @Column({ type: 'text', default: 'accepted' })
  status: 'accepted' | 'pending' | 'archived';

  @Column({ name: 'supplied_first_name', type: 'text', nullable: true })
  suppliedFirstName: string | null;

  @Column({ name: 'supplied_last_name', type: 'text', nullable: true })
  suppliedLastName: string | null;

  @Column({ name: 'supplied_email', type: 'text', nullable: true })
  suppliedEmail: string | null;

  @Column({ name: 'supplied_phone', type: 'text', nullable: true })
  suppliedPhone: string | null;

  @Column({ name: 'accepted_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  acceptedAt: Date | null;

  @Column({ name: 'enrolled_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  enrolledAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
