export { LessonPlans, type NewPlan, type PlanChange, targetFaults } from './lesson-plans.js';
export { TeachingModule } from './teaching.module.js';
