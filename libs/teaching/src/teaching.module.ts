import { Module } from '@nestjs/common';
import { PeopleModule } from '@app/people';
import { RowsModule } from '@app/rows';
import { SchedulingModule } from '@app/scheduling';
import { ClassChanges } from './class-changes.js';
import { Feedback } from './feedback.js';
import { FileLinks } from './file-links.js';
import { Homework } from './homework.js';
import { LessonPlans } from './lesson-plans.js';
import { Questions } from './questions.js';
import { Results } from './results.js';
import { TutorStudents } from './tutor-students.js';
import { Uploads } from './uploads.js';

const RULES = [ClassChanges, Feedback, FileLinks, Homework, LessonPlans, Questions, Results, TutorStudents, Uploads];

@Module({ imports: [PeopleModule, RowsModule, SchedulingModule], providers: RULES, exports: RULES })
export class TeachingModule {}
