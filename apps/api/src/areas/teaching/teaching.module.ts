import { AccessModule } from '@app/access';
import { RowsModule } from '@app/rows';
import { StorageModule } from '@app/storage';
import { TeachingModule as Teaching } from '@app/teaching';
import { Area, HttpModule } from '../../http/kit.js';
import { CLASSROOMS_CONTROLLERS } from './classrooms/classrooms.controller.js';
import { FILES_CONTROLLERS } from './files/files.controller.js';
import { FilesGuard } from './files/files.guard.js';
import { GROUPS_CONTROLLERS } from './groups/groups.controller.js';
import { HOMEWORK_CONTROLLERS } from './homework.controller.js';
import { LESSON_PLANS_CONTROLLERS } from './lesson-plans/lesson-plans.controller.js';
import { QUESTIONS_CONTROLLERS } from './questions/questions.controller.js';
import { RESULTS_CONTROLLERS } from './results.controller.js';
import { SESSION_FEEDBACK_CONTROLLERS } from './session-feedback.controller.js';
import { SUBJECTS_CONTROLLERS } from './subjects.controller.js';

/** What is taught to whom, and with what outcome. */
@Area({
  imports: [HttpModule, AccessModule, RowsModule, StorageModule, Teaching],
  providers: [FilesGuard],
  controllers: [
    ...SUBJECTS_CONTROLLERS,
    ...CLASSROOMS_CONTROLLERS,
    ...GROUPS_CONTROLLERS,
    ...LESSON_PLANS_CONTROLLERS,
    ...HOMEWORK_CONTROLLERS,
    ...FILES_CONTROLLERS,
    ...QUESTIONS_CONTROLLERS,
    ...RESULTS_CONTROLLERS,
    ...SESSION_FEEDBACK_CONTROLLERS,
  ],
  tags: {
    subjects: ['Subjects', 'What is taught.'],
    classrooms: ['Classrooms', 'Classrooms, their tutors and their students.'],
    'student-groups': ['Student groups', 'Student groups with their members.'],
    groups: ['Groups', 'Create student groups, and add tutors and students to them.'],
    'lesson-plans': ['Lesson plans', 'What a lesson is to cover.'],
    files: ['Files', 'Files and links for lessons, uploaded or by reference.'],
    questions: ['Questions', 'Questions of the organization and of catalogues.'],
    homework: ['Homework', 'Assignments for students, classrooms and groups.'],
    results: ['Results', 'Attempts at exams and exercises.'],
    'session-feedback': ['Session feedback', 'What students and parents say about lessons.'],
  },
})
export class TeachingModule {}
