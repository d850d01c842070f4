import { VALUES } from '@app/database';
import {
  byId, byValue, flag, instant, like, list, listController, nullable, oneOf, recordController, Source, text,
  uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const { owner_type: OWNERS } = VALUES.locations;

const LOCATIONS = list({
  id: 'list_locations',
  path: 'v1/locations',
  summary: 'Lists locations, newest first',
  description:
    'Where the organization teaches, and where its tutors and students live or are taught. `owner_id` is a user, or with ' +
    '`owner_type` `org` the organization.',
  view: new View('Location', {
    id: uuid('p.id'),
    owner_type: like(nullable(oneOf('p.owner_type', OWNERS)), 'student'),
    owner_id: nullable(uuid('coalesce(p.tutor_id, p.student_id, p.organization_id)')),
    label: nullable(text('p.label', 'Home')),
    suburb: nullable(text('p.suburb', 'Brunswick')),
    state: nullable(text('p.state', 'VIC')),
    postcode: nullable(text('p.postcode', '3056')),
    is_default: nullable(flag('p.is_default')),
    created_at: nullable(instant('p.created_at')),
  }),
  source: new Source('locations', 'p'),
  parameters: [
    byValue('owner_type', OWNERS, 'Only locations of such an owner.'),
    byId('tutor_id', 'Only locations of this tutor (user id).'),
    byId('student_id', 'Only locations of this student (user id).'),
  ],
});

const LOCATION = recordController({
  id: 'get_location',
  path: 'v1/locations/:location_id',
  summary: 'Returns one location',
  view: LOCATIONS.view,
  source: LOCATIONS.source,
});

export const LOCATIONS_CONTROLLERS = [listController(LOCATIONS), LOCATION];
