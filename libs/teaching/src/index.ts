export { LessonPlans, type NewPlan, type PlanChange, targetFaults } from './lesson-plans.js';
export { type NewQuestion, Questions } from './questions.js';
export { TeachingModule } from './teaching.module.js';
