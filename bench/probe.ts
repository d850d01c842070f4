/**
 * Preloaded into every measured process (`node --import`). Reports its CPU time and memory to the runner over IPC.
 * Measuring inside the process is portable and exact to the microsecond.
 */

/** What a process has used since its start; `rss` is its peak. */
export interface Usage {
  cpuSeconds: number;
  rss: number;
}

const SAMPLE_MS = 100;

// Not maxRSS: on Linux a new process inherits its parent's.
let rss = 0;
function sample(): void {
  rss = Math.max(rss, process.memoryUsage.rss());
}
setInterval(sample, SAMPLE_MS).unref();

process.on('message', (message) => {
  if (message !== 'usage') return;
  sample();
  const { user, system } = process.cpuUsage();
  process.send!({ usage: { cpuSeconds: (user + system) / 1e6, rss } satisfies Usage });
});
// Exit with the runner, even if it crashed.
process.on('disconnect', () => process.exit());
