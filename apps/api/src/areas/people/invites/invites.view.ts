import { VALUES } from '@app/database';
import {
  BOOLEAN, enumOf, INSTANT, objectOf, orNull, type Shape, textLike, UUID, withExample,
} from '../../../http/kit.js'; // prettier-ignore

export const INVITE_SCOPES = ['organization', 'classroom', 'group', 'tutor_student', 'parent'] as const;
export const INVITE_ROLES = ['tutor', 'admin', 'student'] as const;

const LINK = 'https://portal.example.org/join/';
const TOKEN = 'k3v0mN1q0Jb8yVd1XoJ4nJm6m0nqv2pWc3s7yTtq9eA';

/** Built by the service, because the secret is not stored. */
export const inviteShape: Shape = {
  name: 'Invite',
  schema: objectOf({
    scope: enumOf(INVITE_SCOPES),
    id: UUID,
    role: enumOf(VALUES.invites.role),
    target_id: UUID,
    email: orNull(textLike('mia@example.org')),
    token: textLike(TOKEN),
    join_url: orNull(textLike(LINK + TOKEN)),
    expires_at: withExample(INSTANT, '2026-05-15T09:30:00.000Z'),
    subject_id: withExample(orNull(UUID), null),
    emailed: BOOLEAN,
    created_at: INSTANT,
  }),
};

/** Built by the service, because the codes are encrypted in the database. */
export const joinLinkShape: Shape = {
  name: 'OrgJoinLink',
  schema: objectOf({
    student_code: orNull(textLike('K7PQ2MWX4RHD')),
    student_url: orNull(textLike(`${LINK}K7PQ2MWX4RHD`)),
    tutor_code: orNull(textLike('D9HTC3VB6NQ8')),
    tutor_url: orNull(textLike(`${LINK}D9HTC3VB6NQ8`)),
  }),
};
