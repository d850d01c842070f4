import type { Grants } from './grants.js';

/** Subjects, classrooms, groups, homework and results. */
export const teaching: Grants = {
  tables: {
    subjects: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      worker: 'SELECT (organization_id, id, name)',
      portal: 'SELECT, INSERT, UPDATE, DELETE',
    },
    tutor_subjects: { api: 'SELECT, INSERT, DELETE', portal: 'SELECT, INSERT, DELETE' },
    tutor_students: {
      api: 'SELECT, INSERT, UPDATE (status, archived_at)',
      portal: 'SELECT, INSERT, UPDATE (status, archived_at)',
    },
    classrooms: {
      api: `SELECT, INSERT, UPDATE (name, tutor_id, subject_id, price_cents, billing_interval, is_archived, updated_at)`,
      portal: 'SELECT, UPDATE (tutor_id, updated_at)',
    },
    classroom_members: {
      api: 'SELECT, INSERT, UPDATE (role), DELETE',
      portal: 'SELECT, INSERT, UPDATE (role), DELETE',
    },
    // Who leaves hands over what they led.
    student_groups: {
      api: `SELECT, INSERT, UPDATE (owner_organization_id, name, tutor_id, classroom_id, subject_id, rate_per_student_cents, color,
        avatar_url, is_archived, updated_at)`,
      portal: 'SELECT, UPDATE (owner_organization_id, tutor_id, classroom_id, subject_id, updated_at)',
    },
    student_group_members: {
      api: 'SELECT, INSERT, UPDATE (role), DELETE',
      portal: 'SELECT, INSERT, UPDATE (role), DELETE',
    },
    homework: { api: 'SELECT, INSERT, UPDATE, DELETE', portal: 'SELECT' },
    // Shown through organization_results, which triggers maintain.
    results: {
      api: 'SELECT, INSERT, UPDATE (status, grade, vce_exam_id, curriculum_level_id, started_at, completed_at)',
      // Whose they are.
      portal: 'SELECT (id, made_by_organization_id)',
    },
    organization_results: { api: 'SELECT', portal: 'SELECT' },
  },
  functions: {
    // Called by row-level security.
    group_of_others: ['api', 'portal'],
  },
};
