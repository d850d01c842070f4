import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An address that a mail server refused for good. */
@Entity('suppressions')
export class Suppression {
  @PrimaryColumn({ name: 'email_normalized', type: 'text' })
  emailNormalized: string;

  @Column({ type: 'text' })
  reason: string;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
