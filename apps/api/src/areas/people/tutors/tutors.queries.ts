import sql from 'sql-template-tag';
import { type Counter, VALUES } from '@app/database';
import {
  byFlag, flag, instant, integer, like, list, nullable, number, oneOf, Source, text, texts, UUID, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore
import { person } from '../people.view.js';

const { first_name, last_name, full_name, email, placeholder_email, status } = person('m');

const taught = (column: string) => `ARRAY(SELECT s.${column} FROM tutor_subjects ts
  JOIN subjects s ON s.organization_id = ts.organization_id AND s.id = ts.subject_id
  WHERE ts.organization_id = m.organization_id AND ts.user_id = m.user_id ORDER BY s.name)`;

/** `subjects` are names, `tutor_subjects` their ids. Distance and coverage need a place, which a list lacks. */
const tutorView = new View('Tutor', {
  id: uuid('m.user_id'),
  first_name,
  last_name,
  full_name,
  email,
  placeholder_email,
  role: like(nullable(oneOf('m.role', ['owner', 'admin', 'tutor'])), 'tutor'),
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
  distance_km: like(nullable(number('NULL::double precision')), null),
  covers_area: like(nullable(flag('NULL::boolean')), null),
});

const PUBLISHED: Counter[] = ['tutor_profiles:published'];

/** The organization's staff: owners, admins and tutors. Without a tutor profile they count as unpublished. */
export const STAFF = list({
  id: 'list_tutors',
  path: 'v1/tutors',
  summary: 'Lists the organization’s staff, newest first',
  description:
    'Owners, admins and tutors, with or without a tutor profile; those without one are not published. ' +
    '`subjects` are names, `tutor_subjects` are ids.',
  view: tutorView,
  source: new Source('members', 'm', {
    id: 'user_id',
    joins: sql`LEFT JOIN tutor_profiles t ON t.organization_id = m.organization_id AND t.user_id = m.user_id
    LEFT JOIN users u ON u.id = m.user_id`,
  }),
  where: sql`m.role <> 'student'`,
  parameters: [
    byFlag('is_published', 'Only staff with a published profile, or only those without one.', 'profile_published'),
  ],
  total: ['members:owner', 'members:admin', 'members:tutor'],
  select: ({ is_published }) => ({
    ...(is_published === true && { total: PUBLISHED }),
    ...(is_published === false && { totalWithout: PUBLISHED }),
  }),
});
