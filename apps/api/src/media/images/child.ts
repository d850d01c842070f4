/**
 * The program that decodes and encodes images, one at a time, in a process of its own (see ImageProcess). A message says
 * how long the file on standard input is; a message answers it, with the new file on standard output.
 */
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { Job, Reply } from './image-process.js';
import { reencode } from './reencode.js';

/** Beside busy processes, about a tenth of a core: requests hardly notice, and an upload still ends before its deadline. */
const PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;

try {
  setPriority(PRIORITY);
  // On Linux a priority belongs to a thread. Those that decode are there already, or inherit that of one that is.
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), PRIORITY);
  // When memory runs out, Linux kills this process rather than the API.
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Not Linux, or the API itself runs at a lower priority.
}

// Ctrl-C reaches every process of a terminal; this one lives as long as the API does.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
// process.exit would wait for the current image.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));

process.on('message', ({ size }: Job) => void work(size));
process.send!('ready');

async function work(size: number): Promise<void> {
  const result = await reencode(await receive(size));
  if ('refusal' in result) {
    send(result);
    return;
  }
  send({ format: result.format, size: result.data.length });
  process.stdout.write(result.data);
}

async function receive(size: number): Promise<Buffer> {
  const file = Buffer.alloc(size);
  for (let length = 0; length < size;) {
    const chunk = process.stdin.read() as Buffer | null;
    if (chunk) length += chunk.copy(file, length);
    else await once(process.stdin, 'readable');
  }
  return file;
}

function send(reply: Reply): void {
  process.send!(reply);
}
