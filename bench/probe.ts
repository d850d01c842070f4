/**
 * Loaded into every measured process (`node --import`): tells the runner, over IPC, how much CPU it has used and how large
 * it has grown. In the process itself, because that is portable and exact to the microsecond.
 */

/** What a process has used since it began; `rss` is the largest size seen at any moment of it. */
export interface Usage {
  cpuSeconds: number;
  rss: number;
}

const SAMPLE_MS = 100;

// Not maxRSS: on Linux a new process inherits that of the one that started it.
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
// Nothing of a run outlives its runner, however that ended.
process.on('disconnect', () => process.exit());
