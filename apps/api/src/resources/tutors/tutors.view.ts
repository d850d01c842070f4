import { flag, instant, integer, nullable, number, oneOf, text, texts, uuid } from '../../http/views/columns.js';
import { person } from '../../http/views/people.js';
import { View } from '../../http/views/view.js';

const { first_name, last_name, full_name, email, placeholder_email, status } = person('m');

const taught = (column: string) => `ARRAY(SELECT s.${column} FROM tutor_subjects ts
  JOIN subjects s ON s.organization_id = ts.organization_id AND s.id = ts.subject_id
  WHERE ts.organization_id = t.organization_id AND ts.user_id = t.user_id ORDER BY s.name)`;

/** `subjects` are names, `tutor_subjects` their ids. Distance and coverage are answers to a place, which a list has not. */
export const tutorView = new View('Tutor', {
  id: uuid('t.user_id'),
  first_name,
  last_name,
  full_name,
  email,
  placeholder_email,
  role: nullable(oneOf('m.role', ['owner', 'admin', 'tutor'])),
  status,
  bio: nullable(text('t.bio')),
  teaching_mode: nullable(oneOf('t.teaching_mode', ['online', 'in_person', 'both'])),
  is_published: nullable(flag('t.is_published')),
  avatar_url: nullable(text('t.avatar_url')),
  handle: nullable(text('t.handle', 'mia-nguyen')),
  subjects: texts(taught('name'), { type: 'string', examples: ['Mathematical Methods'] }),
  created_at: nullable(instant('t.created_at')),
  home_suburb: nullable(text('t.home_suburb', 'Brunswick')),
  home_postcode: nullable(text('t.home_postcode', '3056')),
  home_lat: nullable(number('t.home_lat')),
  home_lng: nullable(number('t.home_lng')),
  service_postcodes: texts('t.service_postcodes', { type: 'string', examples: ['3056'] }),
  serves_all_areas: nullable(flag('t.serves_all_areas')),
  max_travel_km: nullable(integer('t.max_travel_km', { minimum: 0 })),
  in_person_arrangements: texts('t.in_person_arrangements'),
  tutor_subjects: texts(taught('id'), uuid('').schema),
  specialisations: texts('t.specialisations'),
  distance_km: nullable(number('NULL::double precision')),
  covers_area: nullable(flag('NULL::boolean')),
});
