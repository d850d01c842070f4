import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Env } from '@app/config';
import { Failure } from '../output.js';

/** How long the processes of a killed launcher may take to end (ms). */
const LEFTOVER_PATIENCE = 15_000;

/** Without a setting, the service listens only on this machine, which protects a demo on a laptop. */
export function hostOf(env: Env): string {
  return env.get('HOST') ?? '127.0.0.1';
}

const LAST_PORT = 65_535;

/** A port to listen on, and the setting it comes from. */
interface WantedPort {
  setting: 'PORT' | 'PORTAL_PORT';
  port: number;
}

/** Checks that API and portal can listen on their ports. @param patient a killed start may still hold one @throws Failure with a usable port */
export async function checkPorts(env: Env, patient: boolean): Promise<void> {
  const api: WantedPort = { setting: 'PORT', port: env.get('PORT') };
  const portal: WantedPort = { setting: 'PORTAL_PORT', port: env.portalPort };
  const host = hostOf(env);
  if (portal.port > LAST_PORT) {
    const advice = await advise(portal, api, host);
    throw new Failure(`The portal needs a port after ${LAST_PORT}, but there is none. ${advice}`);
  }
  if (api.port === portal.port && api.port !== 0) {
    throw new Failure(`The API and the portal cannot share port ${api.port}. ${await advise(portal, api, host)}`);
  }
  const deadline = Date.now() + (patient ? LEFTOVER_PATIENCE : 0);
  const portalFollows = env.get('PORTAL_PORT') === null;
  await checkPort(api, portalFollows ? null : portal, host, deadline);
  await checkPort(portal, api, host, deadline);
}

const UNUSABLE: Record<string, string> = {
  EADDRINUSE: 'is taken',
  EACCES: 'requires privileges that this user does not have',
};

/** @param other the other program's fixed port; null if the portal uses the port after the API's */
async function checkPort(wanted: WantedPort, other: WantedPort | null, host: string, deadline: number): Promise<void> {
  for (;;) {
    const problem = await problemOf(wanted.port, host);
    if (problem === null) return;
    const why = UNUSABLE[problem];
    if (!why) throw new Failure(`HOST=${host} is not an address of this machine (${problem})`);
    const waits = problem === 'EADDRINUSE' && Date.now() < deadline;
    if (!waits) throw new Failure(`Port ${wanted.port} ${why}. ${await advise(wanted, other, host)}`);
    await setTimeout(100);
  }
}

/** Suggests a usable port. */
async function advise({ setting, port }: WantedPort, other: WantedPort | null, host: string): Promise<string> {
  const first = port < 1024 ? 3000 : port < LAST_PORT - 200 ? port + 1 : port - 200;
  for (let next = first; next < first + 100; next++) {
    const portal = other ? null : next + 1;
    if (next === other?.port || (await problemOf(next, host)) !== null) continue;
    if (portal === null || (await problemOf(portal, host)) === null) return `Try ${setting}=${next} npm start`;
  }
  return `Try ${setting}=0 npm start, which uses any free port`;
}

/** The error code that listening fails with; null if it succeeds. */
async function problemOf(port: number, host: string): Promise<string | null> {
  const problem = await listen(port, host);
  // "localhost" may mean 127.0.0.1 or ::1, so another program's responses on ::1 could be mistaken for ours.
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
