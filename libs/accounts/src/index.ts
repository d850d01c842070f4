export { AccountsModule } from './accounts.module.js';
export { CredentialNotices } from './credential-notices.js';
export { Approvals, type Decided } from './joining/approvals.js';
export { Identities, type NewPasskey, type Shown, type UsedPasskey } from './joining/identities.js';
export type { Joined, JoinProblem, NotJoined } from './joining/join-outcome.js';
export { type Joiner, Joining, type Newcomer } from './joining/joining.js';
export { type MembershipOffer, MembershipOffers } from './joining/membership-offers.js';
export { type InvitePage, type InviteState, type OpenedInvite, OpenedInvites } from './joining/opened-invites.js';
export { type Hashing, hashPassword, isPassword, refusedPassword } from './joining/passwords.js';
export { SignIn } from './joining/sign-in.js';
export { ApiKeys, type HandOver, type KeyLookup, type MadeKey } from './keys/api-keys.js';
export { KeyNotices } from './keys/key-notices.js';
export { type ListedKey, maskedKey } from './keys/listed-key.js';
export {
  type KeyExpiry,
  KeyMadeBefore,
  type KeyProblem,
  KeyRefused,
  mintKey,
  type NewApiKey,
  type Overlap,
  OVERLAPS,
} from './keys/new-key.js';
export { grants, isScope, type Scope, SCOPES } from './keys/scopes.js';
export { AccountError, type NewOrganization, type Organization, Organizations } from './organizations.js';
export { type LinkCredential, PasswordLinks } from './password-links.js';
