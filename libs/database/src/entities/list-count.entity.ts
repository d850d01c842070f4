import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A part of a counter: the sum of its rows is the length of a list. Kept by the database: read only. */
@Entity('list_counts')
export class ListCount {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ type: 'text' })
  list: string;

  @PrimaryColumn({ type: 'uuid', default: () => 'gen_random_uuid()' })
  slot: string;

  @Column({ type: 'integer' })
  delta: number;
}
