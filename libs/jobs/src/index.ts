export { type QueueName, queueNames, QUEUES, type Recurring, WORKER_SILENCE_MS } from './queues.js';
