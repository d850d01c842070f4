import type { Grants } from '../grants.js';

/** Subjects, classrooms, groups, homework and results. */
export const teaching: Grants = {
  tables: {
    subjects: { api: 'SELECT' },
    tutor_subjects: { api: 'SELECT, INSERT, DELETE' },
    tutor_students: {
      api: 'SELECT, INSERT, UPDATE (status, archived_at)',
      portal: 'SELECT, INSERT, UPDATE (status, archived_at)',
    },
    classrooms: { api: 'SELECT, INSERT', portal: 'SELECT' },
    classroom_members: { api: 'SELECT, INSERT, UPDATE (role)', portal: 'SELECT, INSERT, UPDATE (role)' },
    student_groups: { api: 'SELECT, INSERT, UPDATE (updated_at)', portal: 'SELECT, UPDATE (updated_at)' },
    student_group_members: { api: 'SELECT, INSERT, UPDATE (role)', portal: 'SELECT, INSERT, UPDATE (role)' },
    homework: { api: 'SELECT' },
    // Shown through organization_results, which triggers maintain.
    results: {},
    organization_results: { api: 'SELECT' },
  },
  functions: {
    // Called by row-level security.
    group_of_others: ['api', 'portal'],
  },
};
