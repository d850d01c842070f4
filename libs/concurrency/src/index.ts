export { type Claim, FairSemaphore, QueueFull, type SemaphoreLimits } from './fair-semaphore.js';
