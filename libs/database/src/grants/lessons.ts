import type { Grants } from './grants.js';

/** Lesson plans, files and questions. */
export const lessons: Grants = {
  tables: {
    lesson_plans: {
      api: `SELECT, INSERT, UPDATE (scope, classroom_id, group_id, student_id, session_id, title, status, plan_data,
        scheduled_for, updated_at), DELETE`,
    },
    // The portal keeps receipts of tutors. A row is locked, which takes a right to change it, before it goes.
    files: { api: 'SELECT, INSERT, UPDATE, DELETE', portal: 'SELECT, INSERT, UPDATE (title), DELETE' },
    uploads: { api: 'SELECT, INSERT', portal: 'SELECT, INSERT' },
    questions: { api: 'SELECT, INSERT, UPDATE, DELETE' },
  },
  functions: { delete_unnamed_uploads: ['worker'] },
};
