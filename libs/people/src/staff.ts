import type { Tables } from '@app/database';
import { Refused } from '@app/rules';

type Role = Tables['members']['role'];

/** Who may teach. */
export const STAFF: readonly Role[] = ['tutor', 'admin', 'owner'];

/**
 * Tutors, admins and owners teach; students learn.
 *
 * @throws Refused at `user_id` for a member with another role
 */
export function requireRole(role: Role, to: 'teach' | 'learn'): void {
  if (STAFF.includes(role) === (to === 'teach')) return;
  const reason =
    to === 'teach'
      ? 'This member is a student here. Choose a tutor or an admin.'
      : 'This member is not a student here. Choose a student.';
  throw Refused.invalid(reason, 'user_id');
}
