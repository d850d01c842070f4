import type { Tables } from '@app/database';
import { Fault } from '../../http/kit.js';

const TEACHING: Tables['members']['role'][] = ['tutor', 'admin', 'owner'];

/**
 * Tutors, admins and owners may teach in a classroom or group; students may learn there.
 *
 * @throws ValidationFailed at `user_id` for a member with another role
 */
export function requirePlace(role: Tables['members']['role'], place: 'teach' | 'learn'): void {
  if (place === 'teach' ? TEACHING.includes(role) : role === 'student') return;
  const msg =
    place === 'teach'
      ? 'This member is a student here. Choose a tutor or an admin.'
      : 'This member is not a student here. Choose a student.';
  throw new Fault('value_error', msg, ['user_id']).inBody();
}
