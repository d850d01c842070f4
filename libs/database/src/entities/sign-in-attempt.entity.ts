import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How often somebody tried to sign in within a minute. Read and written by the functions of the schema alone. */
@Entity('sign_in_attempts')
export class SignInAttempt {
  /** Whom or what the limit is for, hashed. */
  @PrimaryColumn('bytea')
  subject: Buffer;

  @PrimaryColumn('timestamp with time zone', { precision: 3 })
  minute: Date;

  @Column('integer')
  attempts: number;
}
