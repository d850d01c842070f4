export { isAddress, isEmail } from './email.js';
export { Invitations, type ResentInvite, type SentInvite, type WantedInvite } from './invites/invitations.js';
export { isCode, isToken, newCode, readSecret } from './invites/invite-secrets.js';
export { InviteTargets } from './invites/invite-targets.js';
export { Invites, type MintedInvite, type NewInvite, type StandingRole } from './invites/invites.js';
export { isName } from './names.js';
export { PeopleModule } from './people.module.js';
export { Places } from './places.js';
export { type AccountInvite, AccountInvites } from './provisioning/account-invites.js';
export { AccountMails } from './provisioning/account-mails.js';
export { Families } from './provisioning/families.js';
export { Logins } from './provisioning/logins.js';
export { stateAsMember, stateAsParent } from './provisioning/membership-state.js';
export type {
  NewParent,
  NewPerson,
  NewStudent,
  NewTutor,
  Person,
  Provisioned,
  Provisioner,
  ProvisioningResult,
  RefusedPerson,
} from './provisioning/people.js';
export { Provisioning } from './provisioning/provisioning.js';
export { type ProfileChange, StudentProfiles } from './provisioning/student-profiles.js';
export { type ShownColumn, visibleColumns, visiblePerson } from './visible-person.js';
