export { Budget, type Holding } from './budget.js';
export { inSlices } from './in-slices.js';
export { inTime } from './in-time.js';
export { QueueFull, type Turn, Turns } from './turns.js';
