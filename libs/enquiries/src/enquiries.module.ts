import { Module } from '@nestjs/common';
import { Coverage } from './coverage.js';
import { Leads } from './leads.js';
import { TutorSearch } from './tutor-search.js';

const RULES = [Coverage, Leads, TutorSearch];

@Module({ providers: RULES, exports: RULES })
export class EnquiriesModule {}
