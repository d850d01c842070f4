export { overlapping, overlaps, type Timed } from './overlap.js';
export {
  addDays, dayOf, dayOfWeek, daysBetween, endOfDay, instantAt, occurrences, type Repetition, startOfDay,
} from './wall-clock.js'; // prettier-ignore
