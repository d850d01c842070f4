export { numberEvents } from './numbering.js';
export { EVENT_COLUMNS, eventJson, type StoredEvent } from './event.js';
