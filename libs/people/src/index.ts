export { CredentialNotices } from './logins/credential-notices.js';
export {
  type Credential,
  type Credentials,
  Identities,
  type Identity,
  type NewPasskey,
  type UsedCredential,
  type UsedPasskey,
} from './logins/identities.js';
export { hashAs, type Hashing, hashPassword, refusedPassword, unlimited } from './logins/passwords.js';
export { SignIn } from './logins/sign-in.js';
export { FamilyMails, type Payer } from './organizations/family-mails.js';
export { type ManagerNotice, ManagerNotices } from './organizations/manager-notices.js';
export { TakenBackNotices } from './organizations/taken-back-notices.js';
export { CONTACT, type Contact } from './organizations/contact.js';
export { LOGO_BOX, Logos } from './organizations/logos.js';
export { payUrlFor } from './organizations/pay-url.js';
export { CURRENCIES } from './organizations/currencies.js';
export { IDENTITY } from './organizations/identity.js';
export { SHARING } from './organizations/sharing.js';
export { OrganizationSettings, type Settings, type SettingsChange, type Typed } from './organizations/settings.js';
export { percentOf, SELLER, sellerFaults } from './organizations/seller.js';
export type { ZoneMove } from './organizations/zone-moves.js';
export { type NewOrganization, type Organization, Organizations } from './organizations/organizations.js';
export { type LinkCredential, PasswordLinks } from './logins/password-links.js';
export { isAddress, isEmail, leadsNowhere } from './email.js';
export { Invitations, notMailed, type SentInvite, type WantedInvite } from './invites/invitations.js';
export { hashOfSecret, isCode, isToken, newCode, readSecret } from './invites/invite-secrets.js';
export { InviteTargets } from './invites/invite-targets.js';
export {
  Invites,
  type MintedInvite,
  type NewInvite,
  type PermanentCode,
  type PermanentCodeRole,
} from './invites/invites.js';
export { isName } from './names.js';
export { Operations, type Performed } from './operations.js';
export { PeopleModule } from './people.module.js';
export { type ClassRole, ClassMembers, type ClassRef } from './class-members.js';
export { type AccountInvite, AccountInvites } from './provisioning/account-invites.js';
export { type AccountMail, AccountMails } from './provisioning/account-mails.js';
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
export { type Billing, billingParent, Payers } from './provisioning/payers.js';
export { STAFF_NOTES_VERSION, StaffNotes } from './staff-notes.js';
export { Provisioning } from './provisioning/provisioning.js';
export { Restoring } from './provisioning/restoring.js';
export { type MayChange, MemberProfiles, type ProfileChange } from './provisioning/member-profiles.js';
export { type NewClassroom, type NewGroup, Classes } from './classes.js';
export { asManager, firstOwner, NAMED, requireRole, STAFF, type StaffRole } from './staff.js';
export { type TutorChange, TutorProfiles } from './tutor-profiles.js';
export { foundPerson, shownName, visibleColumns } from './visible-person.js';
export { oneLine } from './organizations/one-line.js';
