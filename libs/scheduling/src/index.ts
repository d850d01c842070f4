export { overlapping, overlaps, type Timed } from './overlap.js';
