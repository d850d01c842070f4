import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What opens a login. Read and written by the functions of the schema alone: the application's role has no right to it. */
@Entity('credentials')
export class Credential {
  @PrimaryColumn({ name: 'user_id', type: 'uuid' })
  userId: string;

  @Column({ name: 'password_hash', type: 'text', nullable: true })
  passwordHash: string | null;

  /** A session that is older is over. */
  @Column({ name: 'sessions_valid_from', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  sessionsValidFrom: Date;
}
