export { AccountsModule } from './accounts.module.js';
export { ApiKeys, type KeyLookup, type NewApiKey } from './api-keys.js';
export { isEmail, normalizeEmail } from './email.js';
export { hashOf, Invites, type MintedInvite, newCode, type NewInvite, type StandingRole } from './invites.js';
export { AccountError, type NewOrganization, Organizations } from './organizations.js';
export { grants, isScope, type Scope, SCOPES } from './scopes.js';
export { type AccountInvite, AccountInvites } from './provisioning/account-invites.js';
export { Families } from './provisioning/families.js';
export type {
  NewParent,
  NewPerson,
  NewStudent,
  NewTutor,
  Outcome,
  Person,
  Provisioned,
  Provisioner,
  Refusal,
} from './provisioning/people.js';
export { Provisioning } from './provisioning/provisioning.js';
export { type ProfileChange, type ProfileChanged, StudentProfiles } from './provisioning/student-profiles.js';
