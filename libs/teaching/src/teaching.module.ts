import { Module } from '@nestjs/common';
import { Feedback } from './feedback.js';
import { FileLinks } from './file-links.js';
import { Homework } from './homework.js';
import { LessonPlans } from './lesson-plans.js';
import { Questions } from './questions.js';
import { Results } from './results.js';
import { Uploads } from './uploads.js';

const RULES = [Feedback, FileLinks, Homework, LessonPlans, Questions, Results, Uploads];

@Module({ providers: RULES, exports: RULES })
export class TeachingModule {}
