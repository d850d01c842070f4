import { Area } from '../../http/kit.js';
import { ClassroomsModule } from './classrooms/classrooms.module.js';
import { FilesModule } from './files.module.js';
import { GroupsModule } from './groups/groups.module.js';
import { HomeworkModule } from './homework.module.js';
import { LessonPlansModule } from './lesson-plans/lesson-plans.module.js';
import { QuestionsModule } from './questions/questions.module.js';
import { ResultsModule } from './results.module.js';
import { SessionFeedbackModule } from './session-feedback.module.js';
import { SubjectsModule } from './subjects.module.js';

/** What is taught to whom, and with what outcome. */
@Area({
  imports: [
    SubjectsModule,
    ClassroomsModule,
    GroupsModule,
    LessonPlansModule,
    HomeworkModule,
    FilesModule,
    QuestionsModule,
    ResultsModule,
    SessionFeedbackModule,
  ],
  tags: {
    subjects: ['Subjects', 'What is taught.'],
    classrooms: ['Classrooms', 'Classrooms, their tutors and their students.'],
    'student-groups': ['Student groups', 'Student groups with their members.'],
    groups: ['Groups', 'Create student groups, and add tutors and students to them.'],
    'lesson-plans': ['Lesson plans', 'What a lesson is to cover.'],
    files: ['Files', 'Files and links for lessons, by reference.'],
    questions: ['Questions', 'Questions of the organization and of catalogues.'],
    homework: ['Homework', 'Assignments for students, classrooms and groups.'],
    results: ['Results', 'Attempts at exams and exercises.'],
    'session-feedback': ['Session feedback', 'What students and parents say about lessons.'],
  },
})
export class TeachingModule {}
