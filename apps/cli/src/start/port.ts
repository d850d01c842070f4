import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Env } from '@app/config';
import { Failure } from '../output.js';

/** How long the processes of a killed launcher may take to end (ms). */
const LEFTOVER_PATIENCE = 15_000;

/** A laptop's demo is not the network's business unless that is said. */
export function hostOf(env: Env): string {
  return env.get('HOST') ?? '127.0.0.1';
}

/**
 * Refuses ports that API and portal could not listen on, before anything is made.
 *
 * @param patient whether a port may be that of an earlier start, whose processes are still ending
 * @throws Failure with a port that would do
 */
export async function checkPorts(env: Env, patient: boolean): Promise<void> {
  const [port, portal] = [env.get('PORT'), env.portalPort];
  if (port === portal && port !== 0) {
    throw new Failure(`API and portal cannot share port ${port}. Try PORTAL_PORT=${port + 1} npm start`);
  }
  const deadline = Date.now() + (patient ? LEFTOVER_PATIENCE : 0);
  await checkPort('PORT', port, hostOf(env), deadline);
  await checkPort('PORTAL_PORT', portal, hostOf(env), deadline);
}

async function checkPort(setting: string, port: number, host: string, deadline: number): Promise<void> {
  for (;;) {
    const problem = await problemOf(port, host);
    if (problem === null) return;
    if (problem === 'EADDRINUSE' && Date.now() < deadline) {
      await setTimeout(100);
    } else {
      throw new Failure(await explain(problem, setting, port, host));
    }
  }
}

async function explain(problem: string, setting: string, port: number, host: string): Promise<string> {
  if (problem === 'EADDRINUSE') {
    return `Port ${port} is taken. Try ${setting}=${await freePortAfter(port, host)} npm start`;
  }
  if (problem === 'EACCES') return `Port ${port} needs more rights than this user has. Try PORT=3000 npm start`;
  return `HOST=${host} is not an address of this machine (${problem})`;
}

/** One whose next is free as well: the portal's. */
async function freePortAfter(port: number, host: string): Promise<number> {
  for (let next = port + 1; next < Math.min(port + 100, 65_535); next++) {
    if ((await problemOf(next, host)) === null && (await problemOf(next + 1, host)) === null) return next;
  }
  return 0;
}

/** The code of the error that listening ends with; null when it works. */
async function problemOf(port: number, host: string): Promise<string | null> {
  const problem = await listen(port, host);
  // "localhost" may be either of the two: what another program answers on the other one would be taken for ours.
  if (problem !== null || host !== '127.0.0.1' || port === 0) return problem;
  return (await listen(port, '::1')) === 'EADDRINUSE' ? 'EADDRINUSE' : null;
}

function listen(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}
