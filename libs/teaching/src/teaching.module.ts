import { Module } from '@nestjs/common';
import { LessonPlans } from './lesson-plans.js';

@Module({ providers: [LessonPlans], exports: [LessonPlans] })
export class TeachingModule {}
