export { ClassChanges } from './class-changes.js';
export { type Document, FileLinks } from './file-links.js';
export { FILES } from './files.js';
export { FEEDBACK, Feedback } from './feedback.js';
export { Homework, HOMEWORK } from './homework.js';
export { LESSON_PLANS, LessonPlans, type NewPlan, type PlanChange } from './lesson-plans.js';
export { type NewQuestion, Questions, QUESTIONS } from './questions.js';
export { Results, RESULTS } from './results.js';
export {
  type SeenHomework,
  seenHomework,
  type SeenLearner,
  seenLearners,
  type SeenResult,
  seenResults,
} from './seen-learning.js';
export { SUBJECTS } from './subjects.js';
export { targetFaults } from './targets.js';
export { TutorStudents } from './tutor-students.js';
export { TeachingModule } from './teaching.module.js';
export { type NewUpload, Uploads } from './uploads.js';
