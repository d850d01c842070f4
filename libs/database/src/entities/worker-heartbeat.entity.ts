import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A worker process and when it was last alive. */
@Entity('worker_heartbeats')
export class WorkerHeartbeat {
  @PrimaryColumn({ name: 'worker_id', type: 'text' })
  workerId: string;

  @Column({ name: 'seen_at', type: 'timestamp with time zone', precision: 3 })
  seenAt: Date;
}
