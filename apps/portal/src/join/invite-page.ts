import type { InvitePage } from '@app/access';
import { formats } from '../web/formats.js';
import { type Page, page } from '../web/pages.js';
import type { SignedIn } from '../web/sessions.js';
import { maskAddress } from './mask-address.js';

/** The values of the form on an invite's page, and their errors. */
export interface InviteForm {
  first_name: string;
  last_name: string;
  email: string;
  errors: Partial<Record<'first_name' | 'last_name' | 'email' | 'password' | 'passkey', string>> & { replaces?: true };
}

const EMPTY: InviteForm = { first_name: '', last_name: '', email: '', errors: {} };

/** What the person has to do. `register`, `password`: fill in the form, or create a passkey; `switch`: sign out of another account first. */
export type Task = 'accept' | 'register' | 'password' | 'sign_in' | 'switch';

/** The page of a valid invite. @param changed whether somebody has signed in or out since the form was shown */
export function invitePage(
  invite: InvitePage,
  secret: string,
  session: SignedIn | null,
  form = EMPTY,
  changed = false,
): Page {
  const { organization, expiresAt } = invite;
  const data = {
    invite,
    secret,
    form,
    task: taskOf(invite, session),
    inUse: isInUse(invite),
    masked: invite.email && maskAddress(invite.email),
    changed,
    expires: expiresAt && formats(organization.timeZone).dateTime(expiresAt),
  };
  return page('join/invite', data, changed ? 409 : Object.keys(form.errors).length > 0 ? 422 : 200);
}

/** Whether somebody uses the login of this invite already, whose address is not proven. */
export function isInUse({ credentials: { password, passkeys } }: InvitePage): boolean {
  return password || passkeys;
}

/** What somebody who opens this invite has to do. */
export function taskOf({ email, needs, proven, holderId }: InvitePage, session: SignedIn | null): Task {
  if (session && email === null) return 'accept';
  if (session && holderId !== session.userId) return 'switch';
  if (session) return needs === 'password' && proven ? 'password' : 'accept';
  return needs === 'either' || needs === 'registration' ? 'register' : needs;
}
