/** Decodes and encodes images, one at a time, in its own process. A message gives the length of the file on standard input; one answers it. */
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { Job, Reply } from './image-process.js';
import { reencode } from './reencode.js';

/** About a tenth of a core beside busy processes: requests hardly notice, and uploads still meet their deadline. */
const PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;

try {
  setPriority(PRIORITY);
  // On Linux, priorities belong to threads. Decoding threads already exist, or inherit the priority of one that does.
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), PRIORITY);
  // When memory runs out, Linux kills this process rather than the API.
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Not Linux, or the API itself runs at a lower priority.
}

// A service manager signals all processes of a service, but this one must live as long as the API.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
// process.exit would wait for the current image.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));

process.on('message', (job: Job) => void work(job));
process.send!('ready');

async function work({ size, box }: Job): Promise<void> {
  const result = await reencode(await receive(size), box);
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
