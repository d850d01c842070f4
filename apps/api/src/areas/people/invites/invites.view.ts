import { VALUES } from '@app/database';
import {
  BOOLEAN, code, enumOf, INSTANT, objectOf, orNull, type Shape, textLike, UUID, withExample,
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
    token: {
      ...code(textLike(TOKEN)),
      description: 'Shown to the key that made it; empty where an answer is repeated to another key without `read`.',
    },
    join_url: code(orNull(textLike(LINK + TOKEN))),
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
    student_code: code(orNull(textLike('K7PQ2MWX4RHD'))),
    student_url: code(orNull(textLike(`${LINK}K7PQ2MWX4RHD`))),
    tutor_code: code(orNull(textLike('D9HTC3VB6NQ8'))),
    tutor_url: code(orNull(textLike(`${LINK}D9HTC3VB6NQ8`))),
  }),
};
