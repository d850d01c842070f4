import { Provisioning, TutorProfiles } from '@app/people';
import { given, listController, recordController, requireScopes, writeController } from '../../../http/kit.js';
import { ended, OFFBOARDED, OffboardTutor } from '../offboard.js';
import { toTutor } from '../people.dto.js';
import { CreateTutor, UpdateTutor } from './tutors.dto.js';
import { STAFF } from './tutors.queries.js';

const TUTOR = recordController({
  ...STAFF,
  id: 'get_tutor',
  path: 'v1/tutors/:tutor_id',
  summary: 'Returns one tutor, admin or owner',
});

export const TUTORS_CONTROLLERS = [
  listController(STAFF),
  TUTOR,
  writeController({
    id: 'create_tutor',
    route: 'POST /v1/tutors',
    scope: 'accounts:write',
    summary: 'Creates or invites a tutor',
    description:
      'Works like a `tutor` row of the bulk invite. An accepted or pending tutor with this address is returned ' +
      'unchanged, with status 200. What would be a row’s `error` is a 422 here.',
    repeated: 'The tutor was here already.',
    example: { first_name: 'Sam', last_name: 'Okafor', email: 'sam@example.org', teaching_mode: 'online' },
    body: CreateTutor,
    rules: [Provisioning],
    answers: STAFF,
    idName: 'tutor_id',
    async run({ caller, body }, provisioning) {
      const { id, created, invited, known } = await provisioning.provisionOne(caller, toTutor(body));
      return { id, existed: known, audit: { created, invited } };
    },
  }),
  writeController({
    id: 'update_tutor',
    route: 'PUT /v1/tutors/:tutor_id',
    scope: 'tutors:write',
    summary: 'Changes a tutor, admin or owner',
    description:
      'Omitted fields stay unchanged; a list replaces the stored one. Somebody without a tutor profile gets one. ' +
      'Another `home_suburb` or `home_postcode` clears the coordinates. Names change what the organization ' +
      'supplied of a `pending` person, and otherwise the login, unless another organization has a membership for ' +
      'it (422). Another name of an owner or admin needs `accounts:write` as well (403). Archived people cannot be ' +
      'changed (422).',
    example: {
      bio: 'Patient and precise; eleven years of Methods.',
      is_published: true,
      handle: 'sam-okafor',
      home_suburb: 'Brunswick',
      home_postcode: '3056',
      service_postcodes: ['3056', '3057'],
      max_travel_km: 10,
      specialisations: ['exam preparation'],
    },
    body: UpdateTutor,
    rules: [TutorProfiles],
    answers: STAFF,
    run: ({ caller, ids, body }, profiles) => {
      const mayRenameManager = () => requireScopes(caller, ['tutors:write', 'accounts:write']);
      return profiles.change(caller, ids.tutor_id, given(body), mayRenameManager);
    },
  }),
  writeController({
    ...OFFBOARDED,
    id: 'offboard_tutor',
    route: 'POST /v1/tutors/:tutor_id/offboard',
    summary: 'Ends a tutor’s time in the organization',
    description:
      'The tutor is archived; their account stays theirs. Relations to students are archived; places in ' +
      'classrooms and groups, open invites and API keys end. Sessions ahead are unassigned unless `sessions` ' +
      'says otherwise. What was taught, earnings and messages stay. Owners and admins are removed in the portal: ' +
      '409. Again: zeros.',
    conflicts: ['is_manager'],
    example: { sessions: 'hand_over', hand_over_to: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' },
    body: OffboardTutor,
    run: ({ caller, ids, body }, offboarding) =>
      ended(offboarding, caller, { userId: ids.tutor_id, as: 'staff', sessions: body.ahead }),
  }),
];
