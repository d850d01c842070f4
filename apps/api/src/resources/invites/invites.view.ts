import { flag, instant, like, nullable, oneOf, text, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const INVITE_SCOPES = ['organization', 'classroom', 'group', 'tutor_student', 'parent'] as const;
export const INVITE_ROLES = ['tutor', 'admin', 'student'] as const;

const LINK = 'https://portal.example.org/join/';
const TOKEN = 'k3v0mN1q0Jb8yVd1XoJ4nJm6m0nqv2pWc3s7yTtq9eA';

/** Not read from the database: the secret is nowhere to be read from. Only the schemas of the columns count. */
export const inviteShape = new View('Invite', {
  scope: oneOf('', INVITE_SCOPES),
  id: uuid(''),
  role: oneOf('', [...INVITE_ROLES, 'parent']),
  target_id: uuid(''),
  email: nullable(text('', 'mia@example.org')),
  token: text('', TOKEN),
  join_url: nullable(text('', LINK + TOKEN)),
  expires_at: like(instant(''), '2026-05-15T09:30:00.000Z'),
  subject_id: like(nullable(uuid('')), null),
  emailed: flag(''),
  created_at: instant(''),
});

/** The codes are sealed in the database: only the schemas of the columns count. */
export const joinLinkShape = new View('OrgJoinLink', {
  student_code: nullable(text('', 'K7PQ2MWX4R')),
  student_url: nullable(text('', `${LINK}K7PQ2MWX4R`)),
  tutor_code: nullable(text('', 'D9HTC3VB6N')),
  tutor_url: nullable(text('', `${LINK}D9HTC3VB6N`)),
});
