import sql from 'sql-template-tag';
import { type Counter, idOf, IS_STAFF } from '@app/database';
import { teach } from '@app/enquiries';
import { byFlag, instant, kinds, like, list, nullable, parameter, Source, uuid, View } from '../../../http/kit.js';
import { BY_PERSON, totalOf } from '../people.view.js';
import { TUTOR, tutorView } from '../tutor.view.js';

const SUBJECT_NAMED = {
  ...kinds.idOrCode,
  schema: { ...kinds.idOrCode.schema, examples: ['mathematical_methods'] },
};

const PUBLISHED: Counter[] = ['tutor_profiles:published'];
const STAFF_COUNTERS = ['members:owner' as const, 'members:admin' as const, 'members:tutor' as const];

/** The organization's staff: owners, admins and tutors. Without a tutor profile they count as unpublished. */
export const STAFF = list({
  id: 'list_tutors',
  path: 'v1/tutors',
  summary: 'Lists the organization’s staff, newest first',
  description:
    'Owners, admins and tutors, with or without a tutor profile; those without one are not published. ' +
    '`subjects` are names, `tutor_subjects` are ids.',
  view: tutorView(),
  source: new Source('members', 'm', {
    id: 'user_id',
    joins: TUTOR,
  }),
  where: sql`m.${IS_STAFF}`,
  parameters: [
    parameter('subject_id', SUBJECT_NAMED, 'Only staff who teach this subject, by its id or code.', {
      where: (named, _alias, { organizationId }) => teach(organizationId, idOf('subjects', organizationId, named)),
    }),
    byFlag('is_published', 'Only staff with a published profile, or only those without one.', 'profile_published'),
    ...BY_PERSON,
  ],
  total: totalOf(STAFF_COUNTERS).total,
  select({ is_published, subject_id, ...others }) {
    const { total, counted } = totalOf(STAFF_COUNTERS, others);
    return {
      counted: counted || subject_id !== undefined || (is_published !== undefined && others.status !== undefined),
      total: is_published === true ? PUBLISHED : total,
      ...(is_published === false && { totalWithout: PUBLISHED }),
    };
  },
});

const MEMBERS = new Source('members', 'm', { id: 'user_id' });

export const TUTOR_STUDENTS = list({
  id: 'list_tutor_students',
  path: 'v1/tutors/:tutor_id/students',
  summary: 'Lists the students of a tutor, newest first',
  description: 'Once for each subject, and once without one. Relations that have ended are not listed.',
  view: new View('TutorStudent', {
    id: uuid('r.id'),
    tutor_id: uuid('r.tutor_id'),
    student_id: uuid('r.student_id'),
    subject_id: like(nullable(uuid('r.subject_id')), null),
    created_at: nullable(instant('r.created_at')),
  }),
  source: new Source('tutor_students', 'r'),
  where: sql`r.status = 'active'`,
  select: (_query, _caller, { tutor_id }) => ({
    filters: [sql`r.tutor_id = ${tutor_id}`],
    within: { source: MEMBERS, where: sql`m.user_id = ${tutor_id} AND m.${IS_STAFF}` },
  }),
});
