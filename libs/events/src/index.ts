export { EVENT_COLUMNS, eventJson, type StoredEvent } from './event.js';
