import { Offboarding } from '@app/access';
import { AccountInvites, Families, Logins, MemberProfiles, Payers, Provisioning } from '@app/people';
import { changeOf, listController, one, recordController, Records, writeController } from '../../../http/kit.js';
import { accountInviteSentShape, ANOTHER_ADDRESS } from '../account-invite.js';
import { ended, OFFBOARDED, RESTORED, restored, RESTORES } from '../offboard.js';
import { may, toParent } from '../people.dto.js';
import { CreateParent, LinkStudent, UpdateParent } from './parents.dto.js';
import { StatementController } from '../statement.js';
import { ANY_PARENT, BALANCE, linkOf, PARENT, PARENTS, parentStudentLinkView } from './parents.queries.js';

export const PARENTS_CONTROLLERS = [
  listController(PARENTS),
  recordController(PARENT),
  recordController(BALANCE),
  StatementController,
  writeController({
    id: 'create_parent',
    route: 'POST /v1/parents',
    scope: 'accounts:write',
    summary: 'Creates a parent, who is not listed until linked to a student',
    description:
      'Works like a `parent` row of the bulk invite. This call sends no email: link the parent to a student, ' +
      'then send the invite. An accepted or pending parent with this address is returned unchanged, with status 200. ' +
      'What would be a row’s `error` is a 422 here.',
    repeated: 'The parent was here already.',
    example: { first_name: 'Linh', last_name: 'Nguyen', email: 'linh@example.org' },
    body: CreateParent,
    rules: [Provisioning],
    answers: ANY_PARENT,
    idName: 'parent_id',
    async run({ caller, body }, provisioning) {
      const { id, created, known } = await provisioning.provisionOne(caller, toParent(body));
      return { id, existed: known, audit: { created } };
    },
  }),
  writeController({
    id: 'update_parent',
    route: 'PATCH /v1/parents/:parent_id',
    scope: 'students:write',
    summary: 'Changes a parent’s names, email, phone or what invoices call them',
    description:
      'As for a student: omitted fields stay unchanged; of a `pending` parent it changes what the organization supplied, but not the ' +
      'address they were invited at; a login that another organization has a membership for is a 422. Another `email` needs ' +
      `\`accounts:write\` as well, as do names of one who is an owner or admin here, whose \`email\` and \`phone\` are a 409. ${ANOTHER_ADDRESS}`,
    example: { phone: '+61 400 000 000' },
    body: UpdateParent,
    rules: [MemberProfiles, Logins, Payers],
    answers: PARENT,
    versions: PARENT,
    first: ({ organizationId, ids }, _, logins, _payers) => logins.lockPerson(organizationId, ids.parent_id),
    conflicts: ['is_manager'],
    run: ({ caller, organizationId, ids, body }, profiles, _logins, payers) => {
      const { phone, billingName: name, billingAddress: address, ...change } = changeOf(body);
      const changed = { ...change, phone: phone === '' ? null : phone };
      return profiles.changeParent(caller, ids.parent_id, changed, may(caller, 'students:write'), () =>
        payers.changeParent(organizationId, ids.parent_id, { name, address }),
      );
    },
  }),
  writeController({
    id: 'link_student_to_parent',
    route: 'POST /v1/parents/:parent_id/link-student',
    status: 200,
    scope: 'accounts:write',
    summary: 'Links a parent to a student',
    description:
      'The parent must already be linked here or have been provisioned by this organization. One who has left comes ' +
      'back with the link, `pending` until they accept again. Linking again changes nothing.',
    example: { student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' },
    body: LinkStudent,
    rules: [Families, Records],
    answers: one(parentStudentLinkView),
    versions: ANY_PARENT,
    first: ({ organizationId, ids, body }, families, _records) =>
      families.lock(organizationId, ids.parent_id, body.student_id),
    async run({ caller, organizationId, ids: { parent_id }, body: { student_id } }, families, records) {
      const changed = await families.link(organizationId, parent_id, student_id);
      return { changed, audit: { student_id }, answer: await records.written(caller, linkOf(parent_id, student_id)) };
    },
  }),
  writeController({
    id: 'send_parent_invite',
    route: 'POST /v1/parents/:parent_id/send-invite',
    status: 200,
    scope: 'accounts:write',
    summary: 'Emails a parent a link to their account',
    description:
      'The parent must be linked to a student. `sent` says whether an email was queued. None is queued without ' +
      'a mail server, if the address permanently rejects mail or got one in the last ten minutes, or beyond the ' +
      'daily limit. A parent without an address is a 422.',
    rules: [AccountInvites, Logins],
    answers: one(accountInviteSentShape),
    versions: PARENT,
    first: ({ organizationId, ids }, _, logins) => logins.lockPerson(organizationId, ids.parent_id),
    async run({ caller, ids }, invites) {
      const answer = await invites.sendToParent(caller, ids.parent_id);
      return { changed: answer.sent, audit: { sent: answer.sent }, answer };
    },
  }),
  writeController({
    ...OFFBOARDED,
    id: 'offboard_parent',
    route: 'POST /v1/parents/:parent_id/offboard',
    summary: 'Ends a parent’s time in the organization',
    description:
      'The parent sees nothing of the organization any more; their account stays theirs. Links to children and ' +
      'open invites end; invoices stay. Again: zeros.',
    versions: ANY_PARENT,
    first: ({ organizationId, ids }, offboarding) => offboarding.hold(organizationId, { userId: ids.parent_id }),
    run: ({ caller, ids }, offboarding) => ended(offboarding, caller, { userId: ids.parent_id, as: 'parent' }),
  }),
  writeController({
    ...RESTORED,
    id: 'restore_parent',
    route: 'POST /v1/parents/:parent_id/restore',
    summary: 'Takes back a parent who has left',
    description: `${RESTORES} Nobody is mailed: link the parent to a child, then send the invite. A parent who has not left is returned unchanged.`,
    answers: ANY_PARENT,
    versions: ANY_PARENT,
    first: ({ organizationId, ids }, _, logins) => logins.lockPerson(organizationId, ids.parent_id),
    run: ({ caller, ids }, restoring) => restored(restoring, caller, ids.parent_id, 'parent'),
  }),
  writeController({
    id: 'unlink_student_from_parent',
    route: 'DELETE /v1/parents/:parent_id/students/:student_id',
    scope: 'accounts:write',
    summary: 'Unlinks a parent from a student',
    description: 'A parent without a linked student is no longer listed, and sees nothing. An unlinked pair is a 404.',
    rules: [Offboarding, Logins],
    answers: null,
    versions: PARENT,
    first: ({ organizationId, ids }, _, logins) => logins.lockPerson(organizationId, ids.parent_id),
    run: ({ organizationId, ids }, offboarding) =>
      offboarding.unlinkChild(organizationId, ids.parent_id, ids.student_id),
  }),
];
