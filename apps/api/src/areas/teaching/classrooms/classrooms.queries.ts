import { VALUES } from '@app/database';
import {
  byIdOrCode, cents, flag, instant, joinCode, like, list, nullable, oneOf, Source, text, toggle, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

const GROUP = `(SELECT g.id FROM student_groups g WHERE g.organization_id = c.organization_id AND g.classroom_id = c.id
  ORDER BY g.created_at, g.id LIMIT 1)`;

const CODE = `(SELECT (array_agg(i.sealed ORDER BY i.created_at DESC))[1] FROM invites i WHERE i.organization_id = c.organization_id AND i.target_id = c.id
  AND i.scope = 'classroom' AND i.sealed IS NOT NULL AND i.revoked_at IS NULL AND i.expires_at > now())`;

export const CLASSROOMS = list({
  id: 'list_classrooms',
  path: 'v1/classrooms',
  summary: 'Lists the organization’s classrooms, newest first',
  description:
    '`join_code` is the newest code with which students can join: one is made with the classroom, more by ' +
    '`POST /v1/invites`; null if none is valid, and for keys without `accounts:write`. `group_id` is the classroom’s first group.',
  view: new View('Classroom', {
    id: uuid('c.id'),
    name: nullable(text('c.name', 'Year 12 Methods')),
    tutor_id: nullable(uuid('c.tutor_id')),
    subject_id: nullable(uuid('c.subject_id')),
    join_code: nullable(joinCode(CODE)),
    price_cents: nullable(cents('c.price_cents')),
    billing_interval: like(nullable(oneOf('c.billing_interval', VALUES.classrooms.billing_interval)), 'month'),
    group_id: like(nullable(uuid(GROUP)), null),
    is_archived: nullable(flag('c.is_archived')),
    created_at: nullable(instant('c.created_at')),
    updated_at: nullable(instant('c.updated_at')),
  }),
  source: new Source('classrooms', 'c'),
  parameters: [
    byIdOrCode('subject_id', 'subjects', 'Only classrooms of this subject.'),
    toggle('include_archived', 'Include classrooms that are archived.', { without: 'is_archived' }),
  ],
});
