import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One login across the platform, whatever the number of organizations. `emailNormalized` is what is looked up. */
@Entity('users')
export class User {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'text' })
  email: string;

  @Column({ name: 'email_normalized', type: 'text' })
  emailNormalized: string;

  @Column({ name: 'placeholder_email', type: 'boolean', default: false })
  placeholderEmail: boolean;

  @Column({ name: 'first_name', type: 'text' })
  firstName: string;

  @Column({ name: 'last_name', type: 'text' })
  lastName: string;

  /** When the person proved the address; cleared with each change of it. */
  @Column({ name: 'email_verified_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  emailVerifiedAt: Date | null;

  @Column({ type: 'text', nullable: true })
  phone: string | null;

  /** The organizations in which the person has accepted: kept by the database, and the API's role cannot read it. */
  @Column({ name: 'seen_by', type: 'uuid', array: true, default: () => `'{}'`, select: false })
  seenBy: string[];

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  updatedAt: Date;
}
