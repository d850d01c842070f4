import type { UsedCredential } from '@app/people';
import type { InviteState } from './opened-invites.js';

export interface Joined {
  status: 'joined';
  userId: string;
  organizationId: string;
  /** Whether a login was created. */
  created: boolean;
  /** Whether the address is proven. */
  verified: boolean;
  /** Whether a confirmation was mailed; false if the address was mailed a moment ago. */
  confirmationMailed: boolean;
  /** Whether an owner or admin has to approve first. */
  waits: boolean;
  /** Whether they had just accepted, and pressed the button twice. */
  repeated: boolean;
  /** The credential that the person used or created; null for somebody who was signed in. */
  shown: UsedCredential | null;
}

/**
 * Why somebody cannot join:
 * - `unknown`: unknown secret, or an invite that is no longer valid
 * - `sign_in`: they must sign in to the login of this address; `other_account`: somebody else is signed in
 * - `unproven`: an admin's invite that no owner made needs the link of its mail
 * - `unconfirmed`: an invite from another organization requires a proven address
 * - `role`: the person has another role in the organization; `archived`: only an invite to their address lets them in
 * - `full`: the places of the code are taken; `crowded`: too many people wait for approval already
 * - `address`, `name`, `password`: missing or not allowed
 * - `passkey`: it already belongs to somebody
 * - `other_credential`: the login is in use with another password or passkey, and nobody has agreed to replace it
 */
export type JoinProblem =
  | Exclude<InviteState, 'valid'>
  | 'unknown'
  | 'sign_in'
  | 'other_account'
  | 'unconfirmed'
  | 'role'
  | 'archived'
  | 'full'
  | 'crowded'
  | 'address'
  | 'name'
  | 'password'
  | 'passkey'
  | 'other_credential';

export interface NotJoined {
  status: 'refused';
  problem: JoinProblem;
}

/** Rolls the transaction back. */
export class JoinRefused extends Error {
  constructor(readonly problem: JoinProblem) {
    super(problem);
  }
}
