import { VALUES } from '@app/database';
import { LOCATIONS as KIND } from '@app/enquiries';
import {
  byId, byValue, flag, instant, kinds, like, list, listController, nullable, oneOf, rows, Source, text, uuid, View,
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

/** Whoever sets up the owner sets up where they are. */
const SCOPES = { org: 'settings:write', tutor: 'tutors:write', student: 'students:write' } as const;

export const LOCATIONS_CONTROLLERS = [
  listController(LOCATIONS),
  ...rows({
    path: 'locations/:location_id',
    noun: 'location',
    kind: KIND,
    scope: {
      anyOf: ['settings:write', 'tutors:write', 'students:write'],
      of: (row) => [SCOPES[(row as { owner_type?: keyof typeof SCOPES }).owner_type ?? 'org']],
    },
    shown: LOCATIONS,
    fields: {
      owner_type: { kind: kinds.oneOf(OWNERS), default: 'org', fixed: true },
      tutor_id: {
        nullable: true,
        fixed: true,
        description: 'With `owner_type` `tutor`: an accepted tutor, admin or owner.',
      },
      student_id: { nullable: true, fixed: true, description: 'With `owner_type` `student`: an accepted student.' },
      label: { nullable: true },
      suburb: { nullable: true },
      state: { nullable: true },
      postcode: { nullable: true },
      is_default: {
        kind: kinds.boolean,
        default: false,
        description: 'A new default of an owner takes the place of the former.',
      },
    },
    examples: {
      create: {
        owner_type: 'student',
        student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
        label: 'Home',
        suburb: 'Brunswick',
        postcode: '3056',
      },
      change: { suburb: 'Coburg', postcode: '3058' },
    },
    notes: {
      create:
        'Needs `settings:write` for the organization’s own, `tutors:write` for a tutor’s, `students:write` for a student’s. Never a street line.',
      change: 'Needs the scope of its owner, who stays.',
      remove: 'Needs the scope of its owner.',
    },
  }),
];
