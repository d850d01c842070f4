import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { JobsModule } from '@app/jobs';
import { Invitations } from './invites/invitations.js';
import { InviteTargets } from './invites/invite-targets.js';
import { Invites } from './invites/invites.js';
import { ClassMembers } from './class-members.js';
import { CredentialNotices } from './logins/credential-notices.js';
import { Identities } from './logins/identities.js';
import { PasswordLinks } from './logins/password-links.js';
import { SignIn } from './logins/sign-in.js';
import { Operations } from './operations.js';
import { FamilyMails } from './organizations/family-mails.js';
import { ManagerNotices } from './organizations/manager-notices.js';
import { Organizations } from './organizations/organizations.js';
import { Logos } from './organizations/logos.js';
import { OrganizationSettings } from './organizations/settings.js';
import { TakenBackNotices } from './organizations/taken-back-notices.js';
import { ZoneMoves } from './organizations/zone-moves.js';
import { AccountInvites } from './provisioning/account-invites.js';
import { AccountMails } from './provisioning/account-mails.js';
import { Families } from './provisioning/families.js';
import { Logins } from './provisioning/logins.js';
import { MemberProfiles } from './provisioning/member-profiles.js';
import { Memberships } from './provisioning/memberships.js';
import { Payers } from './provisioning/payers.js';
import { StaffNotes } from './staff-notes.js';
import { Provisioning } from './provisioning/provisioning.js';
import { Restoring } from './provisioning/restoring.js';
import { Classes } from './classes.js';
import { TutorProfiles } from './tutor-profiles.js';

const PEOPLE = [
  AccountInvites,
  AccountMails,
  ClassMembers,
  Classes,
  CredentialNotices,
  Families,
  FamilyMails,
  Identities,
  Invitations,
  InviteTargets,
  Invites,
  Logins,
  Logos,
  ManagerNotices,
  MemberProfiles,
  Operations,
  Organizations,
  OrganizationSettings,
  PasswordLinks,
  Payers,
  StaffNotes,
  Provisioning,
  Restoring,
  SignIn,
  TakenBackNotices,
  TutorProfiles,
];

@Module({ imports: [AuditModule, JobsModule], providers: [...PEOPLE, Memberships, ZoneMoves], exports: PEOPLE })
export class PeopleModule {}
