import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { JobsModule } from '@app/jobs';
import { SchedulingModule } from '@app/scheduling';
import { PeopleModule } from '@app/people';
import { Codes } from './codes/codes.js';
import { JoinedByCode } from './codes/joined-by-code.js';
import { Approvals } from './joining/approvals.js';
import { Declining } from './joining/declining.js';
import { JoinEffects } from './joining/join-effects.js';
import { Joining } from './joining/joining.js';
import { MembershipOffers } from './joining/membership-offers.js';
import { OpenedInvites } from './joining/opened-invites.js';
import { Waiting } from './joining/waiting.js';
import { Withdrawing } from './joining/withdrawing.js';
import { ApiKeys } from './keys/api-keys.js';
import { KeyNotices } from './keys/key-notices.js';
import { OffboardingSteps } from './membership/offboarding-steps.js';
import { AccountDeletions } from './membership/account-deletions.js';
import { Erasures } from './membership/erasures.js';
import { Inviting } from './membership/inviting.js';
import { Managers } from './membership/managers.js';
import { MembershipNotices } from './membership/membership-notices.js';
import { Offboarding } from './membership/offboarding.js';
import { Roles } from './membership/member-roles.js';
import { WaysIn } from './membership/ways-in.js';

const ACCESS = [
  AccountDeletions,
  ApiKeys,
  Approvals,
  Codes,
  Declining,
  Erasures,
  Inviting,
  JoinedByCode,
  Joining,
  KeyNotices,
  MembershipNotices,
  MembershipOffers,
  Offboarding,
  OpenedInvites,
  Roles,
  Withdrawing,
];
const BELOW = [AuditModule, JobsModule, PeopleModule, SchedulingModule];

@Module({
  imports: BELOW,
  providers: [...ACCESS, OffboardingSteps, JoinEffects, Managers, Waiting, WaysIn],
  exports: [...ACCESS, ...BELOW],
})
export class AccessModule {}
