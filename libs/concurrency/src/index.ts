export { Budget, type Holding } from './budget.js';
export { QueueFull, type Turn, Turns } from './turns.js';
