import { Logins, Provisioning, TutorProfiles } from '@app/people';
import { TutorStudents } from '@app/teaching';
import { given, listController, recordController, writeController } from '../../../http/kit.js';
import { ANOTHER_ADDRESS } from '../account-invite.js';
import { ended, OFFBOARDED, RESTORED, restored, RESTORES, OffboardTutor } from '../offboard.js';
import { may, toTutor } from '../people.dto.js';
import { CreateTutor, CreateTutorStudent, UpdateTutor } from './tutors.dto.js';
import { STAFF, TUTOR_STUDENTS } from './tutors.queries.js';

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
      'it (422); so do `email` and `phone`. Another name of an owner or admin, and another `email`, need ' +
      '`accounts:write` as well (403); `email` and `phone` of an owner or admin are a 409. ' +
      `${ANOTHER_ADDRESS} Archived people cannot be changed (422).`,
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
    rules: [TutorProfiles, Logins],
    answers: STAFF,
    versions: STAFF,
    first: ({ organizationId, ids }, _, logins) => logins.lockPerson(organizationId, ids.tutor_id),
    conflicts: ['is_manager'],
    run: ({ caller, ids, body }, profiles) => {
      const { phone, ...change } = given(body);
      const changed = phone === undefined ? change : { ...change, phone: phone || null };
      return profiles.change(caller, ids.tutor_id, changed, may(caller, 'tutors:write'));
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
      '409. Again: zeros; with another choice for the sessions: 409.',
    conflicts: ['is_manager', 'invalid_state'],
    example: { sessions: 'hand_over', hand_over_to: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' },
    body: OffboardTutor,
    versions: STAFF,
    first: ({ organizationId, ids, body }, offboarding) =>
      offboarding.hold(organizationId, { userId: ids.tutor_id, sessions: body.ahead }),
    run: ({ caller, ids, body }, offboarding) =>
      ended(offboarding, caller, { userId: ids.tutor_id, as: 'staff', sessions: body.ahead }),
  }),
  writeController({
    ...RESTORED,
    id: 'restore_tutor',
    route: 'POST /v1/tutors/:tutor_id/restore',
    summary: 'Takes back a tutor who has left',
    description: `${RESTORES} They are mailed as in the bulk invite. Owners and admins are a 409. A tutor who has not left is returned unchanged.`,
    conflicts: ['is_manager'],
    answers: STAFF,
    versions: STAFF,
    first: ({ organizationId, ids }, _, logins) => logins.lockPerson(organizationId, ids.tutor_id),
    run: ({ caller, ids }, restoring) => restored(restoring, caller, ids.tutor_id, 'staff'),
  }),
  listController(TUTOR_STUDENTS),
  writeController({
    id: 'create_tutor_student',
    route: 'POST /v1/tutors/:tutor_id/students',
    scope: 'tutors:write',
    summary: 'Relates a student to a tutor',
    description:
      'Once for each subject, and once without one: again, it is the same relation (200). It says whose homework is that the tutor sets.',
    example: { student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' },
    body: CreateTutorStudent,
    rules: [TutorStudents],
    answers: TUTOR_STUDENTS,
    idName: 'tutor_student_id',
    async run({ organizationId, ids: { tutor_id }, body: { student_id, subject_id = null } }, students) {
      const { id, changed } = await students.relate(organizationId, tutor_id, student_id, subject_id);
      return { id, changed, existed: !changed, audit: { student_id } };
    },
  }),
  writeController({
    id: 'remove_tutor_student',
    route: 'DELETE /v1/tutors/:tutor_id/students/:student_id',
    scope: 'tutors:write',
    summary: 'Ends what relates a student to a tutor',
    description:
      'In every subject. Lessons stay as they are, and homework that was set before stays with its organization.',
    rules: [TutorStudents],
    answers: null,
    run: ({ organizationId, ids }, students) => students.part(organizationId, ids.tutor_id, ids.student_id),
  }),
];
