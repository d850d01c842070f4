import { Module } from '@nestjs/common';
import { JobsModule } from '@app/jobs';
import { ApiKeys } from './api-keys.js';
import { Invites } from './invites.js';
import { Organizations } from './organizations.js';
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
    Families,
    Invites,
    Logins,
    Memberships,
    Organizations,
    Provisioning,
    StudentProfiles,
  ],
  exports: [AccountInvites, ApiKeys, Families, Invites, JobsModule, Organizations, Provisioning, StudentProfiles],
})
export class AccountsModule {}
