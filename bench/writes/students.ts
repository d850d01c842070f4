import { randomUUID } from 'node:crypto';
import type { Client } from './client.js';

/** The maximum in one request. */
export const STUDENTS = 100;

export const BULK_INVITE = '/v1/users/bulk-invite';

/** A new student, as in a request, with an unused address. */
export interface NewStudent {
  type: 'student';
  first_name: string;
  last_name: string;
  email: string;
  send_invite: boolean;
}

export function newStudents(): NewStudent[] {
  const batch = randomUUID();
  return Array.from({ length: STUDENTS }, (_, index) => ({
    type: 'student',
    first_name: 'Mia',
    last_name: `Nguyen ${index}`,
    email: `mia.${index}@${batch}.example`,
    send_invite: true,
  }));
}

/** The request that invites them. */
export function inviting(users: NewStudent[]) {
  return { path: BULK_INVITE, idempotencyKey: randomUUID(), body: Buffer.from(JSON.stringify({ users })) };
}

/** Invites {@link STUDENTS} new students. @returns milliseconds */
export async function invite(client: Client): Promise<number> {
  const { body, milliseconds } = await client.send(inviting(newStudents()), 200);
  const { results } = JSON.parse(body) as { results: { created: boolean; invited: boolean }[] };
  if (results.every(({ created, invited }) => created && invited) && results.length === STUDENTS) return milliseconds;
  throw new Error(`Not all were created and invited: ${body.slice(0, 500)}`);
}
