import type { Grants } from './grants.js';

/** Lesson plans, files and questions. */
export const lessons: Grants = {
  tables: {
    lesson_plans: {
      api: `SELECT, INSERT, UPDATE (scope, classroom_id, group_id, student_id, session_id, title, status, plan_data,
        scheduled_for, updated_at), DELETE`,
    },
    files: { api: 'SELECT, INSERT, UPDATE, DELETE', portal: 'SELECT' },
    uploads: { api: 'SELECT, INSERT', portal: 'SELECT' },
    questions: { api: 'SELECT, INSERT, UPDATE, DELETE' },
  },
  functions: { delete_unnamed_uploads: ['worker'] },
};
