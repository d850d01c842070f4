/**
 * Loaded into a process of the API before it starts (`node --expose-gc --import`): tells over IPC what happened between
 * `begin`, or `begin empty` for a heap without garbage, and `end`. See metered-api.ts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often the event loop is looked at (ms). */
const TICK = 1;

/** CPU of the thread that runs the event loop (ms); of the whole process before Node 23.9. */
function ownCpu() {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1e3;
}

/**
 * The longest that the loop was held (ms): the time between two ticks, of which only what this thread itself worked
 * counts. A process that waits for a processor would look the same as one that is busy.
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

/** The most memory since Linux was told to forget it; elsewhere since the start. */
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
  // The collection's own hold is seen at the next tick.
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
  // What held the loop until now is seen at the next tick.
  if (message === 'end') setTimeout(() => process.send(end()), 3 * TICK);
});
