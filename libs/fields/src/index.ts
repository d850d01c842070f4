export * from './fault.js';
export * from './kinds.js';
export * as kinds from './kinds.js';
export * from './nested.js';
export { FIELDS, hoursOfDay } from './rows.js';
