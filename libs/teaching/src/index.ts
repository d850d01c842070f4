export { FEEDBACK, Feedback } from './feedback.js';
export { Homework, HOMEWORK } from './homework.js';
export { LESSON_PLANS, LessonPlans, type NewPlan, type PlanChange } from './lesson-plans.js';
export { type NewQuestion, Questions, QUESTIONS } from './questions.js';
export { Results, RESULTS } from './results.js';
export { SUBJECTS } from './subjects.js';
export { targetFaults } from './targets.js';
export { TeachingModule } from './teaching.module.js';
