import type { Grants } from './grants.js';

/** What families and tutors are told by mail. */
export const families: Grants = {
  tables: {
    family_switches: { worker: 'SELECT', portal: 'SELECT, INSERT, DELETE' },
    family_rounds: { worker: 'SELECT, INSERT, UPDATE', portal: 'SELECT (organization_id), UPDATE (position)' },
    lesson_tellings: { worker: 'SELECT, INSERT, UPDATE, DELETE' },
    mail_opt_outs: { worker: 'SELECT' },
    mail_links: { worker: 'SELECT, INSERT, UPDATE (created_at)' },
    invoice_reminders: { worker: 'SELECT, INSERT' },
  },
  functions: {
    // For all organizations; only the worker.
    family_work: ['worker'],
    // Of the address of a link.
    mail_choice: ['portal'],
    choose_mail: ['portal'],
  },
};
