export { Expiries } from './expiries.js';
export { type Claim, FairSemaphore, QueueFull, type SemaphoreLimits } from './fair-semaphore.js';
export { TokenBuckets } from './token-buckets.js';
