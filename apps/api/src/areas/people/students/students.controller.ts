import { AccountInvites, Logins, MemberProfiles, Payers, Provisioning } from '@app/people';
import { changeOf, listController, one, recordController, writeController } from '../../../http/kit.js';
import { accountInviteSentShape, ANOTHER_ADDRESS } from '../account-invite.js';
import { ended, OFFBOARDED, RESTORED, restored, RESTORES } from '../offboard.js';
import { may, toStudent } from '../people.dto.js';
import { CreateStudent, UpdateStudent } from './students.dto.js';
import { STUDENT_BALANCE, STUDENTS } from './students.queries.js';

const STUDENT = recordController({
  ...STUDENTS,
  id: 'get_student',
  path: 'v1/students/:student_id',
  summary: 'Returns one student',
  description: 'A `pending` student shows only what the organization supplied.',
});

export const STUDENTS_CONTROLLERS = [
  listController(STUDENTS),
  STUDENT,
  recordController(STUDENT_BALANCE),
  writeController({
    id: 'create_student',
    route: 'POST /v1/students',
    scope: 'accounts:write',
    summary: 'Creates or invites a student, with a parent if one is given',
    description:
      'Works like a `student` row of the bulk invite. An accepted or pending student with this address is returned ' +
      'unchanged, with status 200; a `parent` for them is a 422: link the parent instead. Add a child without an ' +
      'address of their own without `email`. What would be a row’s `error` is a 422 here.',
    repeated: 'The student was here already.',
    example: { first_name: 'Mia', last_name: 'Nguyen', email: 'mia@example.org' },
    body: CreateStudent,
    rules: [Provisioning],
    answers: STUDENTS,
    idName: 'student_id',
    async run({ caller, body }, provisioning) {
      const { id, created, invited, known } = await provisioning.provisionOne(caller, toStudent(body));
      return { id, existed: known, audit: { created, invited } };
    },
  }),
  writeController({
    id: 'update_student',
    route: 'PATCH /v1/students/:student_id',
    scope: 'students:write',
    summary: 'Changes a student’s names, email, phone, rate band or who is billed',
    description:
      'Omitted fields stay unchanged. For a `pending` student, this changes what the organization supplied, but ' +
      'not the address they were invited at. If another organization has a membership for the login, only the ' +
      `person can change it, and an archived student cannot be changed: 422. Another \`email\` needs \`accounts:write\` as well. ${ANOTHER_ADDRESS} A \`billing_parent_id\` that is not linked is a 404.`,
    example: { phone: '+61 400 000 000' },
    body: UpdateStudent,
    rules: [MemberProfiles, Logins, Payers],
    answers: STUDENTS,
    versions: STUDENTS,
    first: ({ organizationId, ids }, _, logins, _payers) => logins.lockPerson(organizationId, ids.student_id),
    run: ({ caller, organizationId, ids, body }, profiles, _logins, payers) => {
      const { rateBandId, phone, billingParentId, billsSelf, billingName, billingAddress, ...change } = changeOf(body);
      const billing = { parentId: billingParentId, self: billsSelf, name: billingName, address: billingAddress };
      return profiles.changeStudent(
        caller,
        ids.student_id,
        { ...change, phone: phone === '' ? null : phone },
        may(caller, 'students:write'),
        rateBandId,
        () => payers.changeStudent(organizationId, ids.student_id, billing),
      );
    },
  }),
  writeController({
    id: 'send_student_invite',
    route: 'POST /v1/students/:student_id/send-invite',
    status: 200,
    scope: 'accounts:write',
    summary: 'Emails a student a link to their account',
    description:
      '`sent` says whether an email was queued. None is queued without a mail server, if the address ' +
      'permanently rejects mail or got one in the last ten minutes, or beyond the daily limit. A student who is ' +
      'archived or has no address is a 422.',
    rules: [AccountInvites, Logins],
    answers: one(accountInviteSentShape),
    versions: STUDENTS,
    first: ({ organizationId, ids }, _, logins) => logins.lockPerson(organizationId, ids.student_id),
    async run({ caller, ids }, invites) {
      const answer = await invites.sendToStudent(caller, ids.student_id);
      return { changed: answer.sent, audit: { sent: answer.sent }, answer };
    },
  }),
  writeController({
    ...OFFBOARDED,
    id: 'offboard_student',
    route: 'POST /v1/students/:student_id/offboard',
    summary: 'Ends a student’s time in the organization',
    description:
      'The student is archived; their account stays theirs. Relations to tutors are archived, places in ' +
      'classrooms and groups and open invites end, and so do bookings ahead: the student leaves each session, ' +
      'and one without other students is cancelled. What was taught, results, messages and invoices stay. Again: ' +
      'zeros.',
    versions: STUDENTS,
    first: ({ organizationId, ids }, offboarding) => offboarding.hold(organizationId, { userId: ids.student_id }),
    run: ({ caller, ids }, offboarding) => ended(offboarding, caller, { userId: ids.student_id, as: 'student' }),
  }),
  writeController({
    ...RESTORED,
    id: 'restore_student',
    route: 'POST /v1/students/:student_id/restore',
    summary: 'Takes back a student who has left',
    description: `${RESTORES} They are mailed as in the bulk invite. A student who has not left is returned unchanged.`,
    answers: STUDENTS,
    versions: STUDENTS,
    first: ({ organizationId, ids }, _, logins) => logins.lockPerson(organizationId, ids.student_id),
    run: ({ caller, ids }, restoring) => restored(restoring, caller, ids.student_id, 'student'),
  }),
];
