import { Codes, readsCodes } from '@app/access';
import { Invitations, Invites, type PermanentCodeRole } from '@app/people';
import { one, readController, writeController } from '../../../http/kit.js';
import { CreateInvite, wishOf } from './invites.dto.js';
import { inviteShape, joinLinkShape } from './invites.view.js';

/** The permanent links. @param codes null for those that are not there, or not to be seen */
const linksOf = (invites: Invites, { student, tutor }: Record<PermanentCodeRole, string | null>) => ({
  student_code: student,
  student_url: student && invites.joinUrl(student),
  tutor_code: tutor,
  tutor_url: tutor && invites.joinUrl(tutor),
});

export const INVITES_CONTROLLERS = [
  writeController({
    id: 'create_invite',
    route: 'POST /v1/invites',
    scope: 'accounts:write',
    summary: 'Creates a join link or code',
    description:
      'With `email`, the invite is for one person, works once and is valid for 14 days; without it, it is ' +
      'shareable and valid for 90 (a parent’s for 14). A shareable one lets in 40 people, a parent’s two, one for the ' +
      'organization any number; tutors and parents then wait for an approval in the portal. An email is queued for the scopes `organization` and `tutor_student` with ' +
      '`email`: `emailed` says whether it was queued, not that it arrived, so show `join_url` too. `token` and ' +
      '`join_url` are returned only once. Each scope accepts only its own target id: `classroom_id`, ' +
      '`group_id`, `tutor_id` (with an optional `subject_id`), or `student_id` for `parent`; `role` is for ' +
      '`organization`, where `admin` requires an `email`.',
    example: { scope: 'organization', role: 'tutor', email: 'mia@example.org' },
    body: CreateInvite,
    rules: [Invitations],
    answers: one(inviteShape),
    async run({ caller, body }, invitations) {
      const wish = wishOf(body, caller);
      const { invite, joinUrl, emailed } = await invitations.invite(caller, wish);
      const { id, secret, subjectId: subject_id = null, expiresAt, createdAt } = invite;
      const { scope, role, targetId: target_id, email } = wish;
      // The response shows the secret only once; only its hash is stored.
      const answer = {
        scope,
        id,
        role,
        target_id,
        email,
        token: secret,
        join_url: joinUrl,
        expires_at: expiresAt.toISOString(),
        subject_id,
        emailed,
        created_at: createdAt.toISOString(),
      };
      return { audit: { invite_id: id, scope, role, target_id, subject_id, emailed }, answer };
    },
  }),
  writeController({
    id: 'remove_invite',
    route: 'DELETE /v1/invites/:invite_id',
    scope: 'accounts:write',
    summary: 'Revokes an invite',
    description:
      'Its link or code stops working at once; whoever has joined by it stays. An invite that was accepted or revoked is ' +
      'a 404, and so are the permanent join links, which can be replaced, and the links to accounts.',
    rules: [Invitations],
    answers: null,
    run: ({ organizationId, ids }, invitations) => invitations.end(organizationId, ids.invite_id),
  }),
  readController({
    id: 'get_org_join_link',
    path: 'v1/org/join-link',
    summary: 'Returns the permanent join links',
    description:
      'They do not expire. They are `null` until they have been created, within a minute of the worker’s start, and ' +
      'while owners or admins have switched them off in the portal; and always for a key without `accounts:write`, because ' +
      'whoever reads a code can let people in.',
    answer: one(joinLinkShape),
    rules: [Invites],
    async run({ caller }, invites) {
      const none = { student: null, tutor: null };
      return linksOf(invites, readsCodes(caller) ? await invites.permanentCodes(caller) : none);
    },
  }),
  writeController({
    id: 'replace_org_join_link',
    route: 'POST /v1/org/join-link/replace',
    status: 200,
    scope: 'accounts:write',
    summary: 'Replaces the permanent join links',
    description:
      'The old ones stop working at once, such as when a code has leaked. One that is switched off stays `null`. Whoever ' +
      'has joined stays.',
    rules: [Codes, Invites],
    answers: one(joinLinkShape),
    async run({ organizationId, caller }, codes, invites) {
      const made = await codes.replacePermanent(organizationId, { userId: null, apiKeyId: caller.keyId });
      const codeOf = (role: PermanentCodeRole) => made.find((code) => code.role === role)?.code ?? null;
      const answer = linksOf(invites, { student: codeOf('student'), tutor: codeOf('tutor') });
      return { audit: { invite_ids: made.map(({ id }) => id) }, answer };
    },
  }),
];
