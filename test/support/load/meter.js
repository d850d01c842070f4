/**
 * Preloaded into an API process (`node --expose-gc --import`). Reports the costs between `begin` and `end` over IPC.
 * `begin empty` collects garbage first. See metered-api.ts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often to sample the event loop (ms). */
const TICK = 1;

/** CPU time of the event loop's thread (ms); before Node 23.9, of the whole process. */
function ownCpu() {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1e3;
}

/**
 * The longest time for which this thread's own work blocked the event loop (ms). The time between two ticks does not
 * show that, because it also passes while the process waits for a processor.
 */
let hold = 0;
let last = { at: performance.now(), cpu: ownCpu() };

setInterval(() => {
  const now = { at: performance.now(), cpu: ownCpu() };
  hold = Math.max(hold, Math.min(now.at - last.at, now.cpu - last.cpu));
  last = now;
}, TICK).unref();

let cpu = process.cpuUsage();
let rss = 0;

/** Peak memory (bytes): since forgetPeak() on Linux, elsewhere since the start. */
function peak() {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}

function forgetPeak() {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Not Linux.
  }
}

async function begin(empty) {
  if (empty) globalThis.gc();
  // Lets a tick record how long the collection took.
  await sleep(3 * TICK);
  forgetPeak();
  rss = process.memoryUsage.rss();
  hold = 0;
  cpu = process.cpuUsage();
}

function end() {
  const { user, system } = process.cpuUsage(cpu);
  return { cpu: (user + system) / 1e3, hold, memory: Math.max(0, peak() - rss) };
}

process.on('message', (message) => {
  if (message.startsWith('begin')) void begin(message === 'begin empty').then(() => process.send({ begun: true }));
  // Lets a tick record what has blocked the loop so far.
  if (message === 'end') setTimeout(() => process.send(end()), 3 * TICK);
});
