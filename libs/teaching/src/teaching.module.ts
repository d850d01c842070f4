import { Module } from '@nestjs/common';
import { LessonPlans } from './lesson-plans.js';
import { Questions } from './questions.js';

@Module({ providers: [LessonPlans, Questions], exports: [LessonPlans, Questions] })
export class TeachingModule {}
