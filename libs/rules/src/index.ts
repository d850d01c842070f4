export { Refused, type Refusal, type Reason } from './refused.js';
export { type StateTable, states } from './states.js';
