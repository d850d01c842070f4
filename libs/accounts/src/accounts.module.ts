import { Module } from '@nestjs/common';
import { JobsModule } from '@app/jobs';
import { ApiKeys } from './api-keys.js';
import { Invites } from './invites.js';
import { Organizations } from './organizations.js';

@Module({
  imports: [JobsModule],
  providers: [ApiKeys, Invites, Organizations],
  exports: [ApiKeys, Invites, JobsModule, Organizations],
})
export class AccountsModule {}
