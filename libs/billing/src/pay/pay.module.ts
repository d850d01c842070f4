import { Module } from '@nestjs/common';
import { PeopleModule } from '@app/people';
import { Adjustments } from './adjustments.js';
import { Claims, LoggedClaims } from './claims.js';
import { Earnings } from './earnings.js';
import { PayRun } from './pay-run.js';
import { Payouts } from './payouts.js';

const RULES = [Adjustments, Claims, Earnings, LoggedClaims, Payouts, PayRun];

/** What tutors earn, claim and are paid. */
@Module({ imports: [PeopleModule], providers: RULES, exports: RULES })
export class PayModule {}
