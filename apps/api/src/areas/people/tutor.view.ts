import sql from 'sql-template-tag';
import { VALUES } from '@app/database';
import { STAFF } from '@app/people';
import {
  flag, instant, integer, like, lookUp, nullable, number, oneOf, text, texts, UUID, uuid, View,
} from '../../http/kit.js'; // prettier-ignore
import { person } from './people.view.js';

/** What the view shows of the member `m`: the profile `t` and the login `u`. */
export const TUTOR = sql`${lookUp('tutor_profiles', 't', 't.organization_id = m.organization_id AND t.user_id = m.user_id')}
  LEFT JOIN users u ON u.id = m.user_id`;

const { first_name, last_name, full_name, email, placeholder_email, status } = person('m');

const taught = (column: string) => `ARRAY(SELECT s.${column} FROM tutor_subjects ts
  JOIN subjects s ON s.organization_id = ts.organization_id AND s.id = ts.subject_id
  WHERE ts.organization_id = m.organization_id AND ts.user_id = m.user_id ORDER BY s.name)`;

/** SQL for how far from a place a tutor lives (km), and whether they teach there. */
export interface Reach {
  distanceKm: string;
  coversArea: string;
}

/** Without a place, a tutor is neither near nor far. */
const NOWHERE: Reach = { distanceKm: 'NULL::double precision', coversArea: 'NULL::boolean' };

/**
 * Somebody of the staff: the member `m` with the login `u` and, if they teach, the profile `t`. `subjects` are names,
 * `tutor_subjects` their ids.
 */
export const tutorView = ({ distanceKm, coversArea } = NOWHERE) =>
  new View('Tutor', {
    id: uuid('m.user_id'),
    first_name,
    last_name,
    full_name,
    email,
    placeholder_email,
    role: like(nullable(oneOf('m.role', STAFF)), 'tutor'),
    status,
    bio: nullable(text('t.bio', 'Patient and precise; eleven years of Methods.')),
    teaching_mode: nullable(oneOf('t.teaching_mode', VALUES.tutor_profiles.teaching_mode)),
    is_published: nullable(flag('m.profile_published')),
    avatar_url: nullable(text('t.avatar_url', 'https://images.example.org/tutors/mia-nguyen.jpg')),
    handle: nullable(text('t.handle', 'mia-nguyen')),
    subjects: texts(taught('name'), { type: 'string', examples: ['Mathematical Methods'] }),
    created_at: nullable(instant('m.created_at')),
    home_suburb: nullable(text('t.home_suburb', 'Brunswick')),
    home_postcode: nullable(text('t.home_postcode', '3056')),
    home_lat: nullable(like(number('t.home_lat'), -37.7667)),
    home_lng: nullable(like(number('t.home_lng'), 144.9626)),
    service_postcodes: texts('t.service_postcodes', { type: 'string', examples: ['3056'] }),
    serves_all_areas: like(nullable(flag('t.serves_all_areas')), false),
    max_travel_km: like(nullable(integer('t.max_travel_km', { minimum: 0 })), 10),
    in_person_arrangements: texts('t.in_person_arrangements', { type: 'string', examples: ['at_home'] }),
    tutor_subjects: texts(taught('id'), UUID),
    tutor_tier_id: like(nullable(uuid('t.tutor_tier_id')), null),
    specialisations: texts('t.specialisations', { type: 'string', examples: ['exam preparation'] }),
    meeting_url: nullable(text('t.meeting_url', 'https://meet.example.org/mia-nguyen')),
    distance_km: like(nullable(number(distanceKm)), null),
    covers_area: like(nullable(flag(coversArea)), null),
  });
