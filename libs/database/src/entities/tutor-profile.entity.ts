import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What an organization says of somebody who teaches in it; owners and admins may teach too. */
@Entity('tutor_profiles')
export class TutorProfile {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ name: 'user_id', type: 'uuid' })
  userId: string;

  @Column({ type: 'text', nullable: true })
  bio: string | null;

  @Column({ name: 'teaching_mode', type: 'text', nullable: true })
  teachingMode: 'online' | 'in_person' | 'both' | null;

  @Column({ name: 'is_published', type: 'boolean', default: false })
  isPublished: boolean;

  @Column({ name: 'avatar_url', type: 'text', nullable: true })
  avatarUrl: string | null;

  @Column({ type: 'text', nullable: true })
  handle: string | null;

  @Column({ name: 'home_suburb', type: 'text', nullable: true })
  homeSuburb: string | null;

  @Column({ name: 'home_postcode', type: 'text', nullable: true })
  homePostcode: string | null;

  @Column({ name: 'home_lat', type: 'double precision', nullable: true })
  homeLat: number | null;

  @Column({ name: 'home_lng', type: 'double precision', nullable: true })
  homeLng: number | null;

  @Column({ name: 'service_postcodes', type: 'text', array: true, default: () => "'{}'" })
  servicePostcodes: string[];

  @Column({ name: 'serves_all_areas', type: 'boolean', default: false })
  servesAllAreas: boolean;

  @Column({ name: 'max_travel_km', type: 'integer', nullable: true })
  maxTravelKm: number | null;

  @Column({ name: 'in_person_arrangements', type: 'text', array: true, default: () => "'{}'" })
  inPersonArrangements: string[];

  @Column({ type: 'text', array: true, default: () => "'{}'" })
  specialisations: string[];

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;
}
