import { Module } from '@nestjs/common';
import { Coverage } from './coverage.js';
import { CoverageGaps } from './gaps.js';
import { Isochrones } from './isochrones.js';
import { Leads } from './leads.js';
import { RoutingService } from './routing-service.js';
import { TutorSearch } from './tutor-search.js';

const RULES = [Coverage, CoverageGaps, Isochrones, Leads, RoutingService, TutorSearch];

@Module({ providers: RULES, exports: RULES })
export class EnquiriesModule {}
