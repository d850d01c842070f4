import { once } from 'node:events';
import { createServer } from 'node:net';

/** Linux gives connections local ports from 32768 on, so no client takes one of these while its server is restarted. */
const [FIRST, LAST] = [10_000, 32_000];

/** @returns the first of this many consecutive ports that are free on 127.0.0.1 */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
