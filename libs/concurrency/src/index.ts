export { Budget, type Holding } from './budget.js';
export { Expiries } from './expiries.js';
export { QueueFull, type Turn, Turns } from './turns.js';
