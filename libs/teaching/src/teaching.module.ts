import { Module } from '@nestjs/common';
import { Feedback } from './feedback.js';
import { Homework } from './homework.js';
import { LessonPlans } from './lesson-plans.js';
import { Questions } from './questions.js';
import { Results } from './results.js';

const RULES = [Feedback, Homework, LessonPlans, Questions, Results];

@Module({ providers: RULES, exports: RULES })
export class TeachingModule {}
