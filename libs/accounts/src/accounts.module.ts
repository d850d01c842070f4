import { Module } from '@nestjs/common';
import { JobsModule } from '@app/jobs';
import { AuditLog } from './audit-log.js';
import { CredentialNotices } from './credential-notices.js';
import { Invitations } from './invitations.js';
import { InviteTargets } from './invite-targets.js';
import { Invites } from './invites.js';
import { Approvals } from './joining/approvals.js';
import { Identities } from './joining/identities.js';
import { JoinEffects } from './joining/join-effects.js';
import { Joining } from './joining/joining.js';
import { MembershipOffers } from './joining/membership-offers.js';
import { OpenedInvites } from './joining/opened-invites.js';
import { SignIn } from './joining/sign-in.js';
import { ApiKeys } from './keys/api-keys.js';
import { KeyNotices } from './keys/key-notices.js';
import { Organizations } from './organizations.js';
import { PasswordLinks } from './password-links.js';
import { Places } from './places.js';
import { AccountInvites } from './provisioning/account-invites.js';
import { AccountMails } from './provisioning/account-mails.js';
import { Families } from './provisioning/families.js';
import { Logins } from './provisioning/logins.js';
import { Memberships } from './provisioning/memberships.js';
import { Provisioning } from './provisioning/provisioning.js';
import { StudentProfiles } from './provisioning/student-profiles.js';

@Module({
  imports: [JobsModule],
  providers: [
    AccountInvites,
    AccountMails,
    ApiKeys,
    Approvals,
    AuditLog,
    CredentialNotices,
    Families,
    Identities,
    Invitations,
    InviteTargets,
    Invites,
    JoinEffects,
    Joining,
    KeyNotices,
    Logins,
    MembershipOffers,
    Memberships,
    OpenedInvites,
    Organizations,
    PasswordLinks,
    Places,
    Provisioning,
    SignIn,
    StudentProfiles,
  ],
  exports: [
    AccountInvites,
    ApiKeys,
    Approvals,
    AuditLog,
    CredentialNotices,
    Families,
    Identities,
    Invitations,
    InviteTargets,
    Invites,
    JobsModule,
    Joining,
    KeyNotices,
    MembershipOffers,
    OpenedInvites,
    Organizations,
    PasswordLinks,
    Places,
    Provisioning,
    SignIn,
    StudentProfiles,
  ],
})
export class AccountsModule {}
