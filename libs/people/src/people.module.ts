import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { JobsModule } from '@app/jobs';
import { Invitations } from './invites/invitations.js';
import { InviteTargets } from './invites/invite-targets.js';
import { Invites } from './invites/invites.js';
import { Places } from './places.js';
import { AccountInvites } from './provisioning/account-invites.js';
import { AccountMails } from './provisioning/account-mails.js';
import { Families } from './provisioning/families.js';
import { Logins } from './provisioning/logins.js';
import { Memberships } from './provisioning/memberships.js';
import { Provisioning } from './provisioning/provisioning.js';
import { StudentProfiles } from './provisioning/student-profiles.js';

const PEOPLE = [
  AccountInvites,
  AccountMails,
  Families,
  Invitations,
  InviteTargets,
  Invites,
  Logins,
  Places,
  Provisioning,
  StudentProfiles,
];

@Module({ imports: [AuditModule, JobsModule], providers: [...PEOPLE, Memberships], exports: PEOPLE })
export class PeopleModule {}
