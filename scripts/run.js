// The command line, built first where that is needed: what `npm start` and `npm run cli` call. In this same process, so
// that a signal reaches the one who has to stop things in order.
import { buildIfStale } from './build-if-stale.js';

await buildIfStale();
await import('../dist/apps/cli/src/main.js');
