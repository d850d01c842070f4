// `npm start` and `npm run cli` call this. Builds the command line if needed and runs it in this same process, so that
// signals reach the code that stops things in order.
import { buildIfStale } from './build-if-stale.js';

await buildIfStale();
await import('../dist/apps/cli/src/main.js');
