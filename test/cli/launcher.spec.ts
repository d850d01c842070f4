import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, urlsOf } from '../support/database/database.js';
import { buildOnce } from '../support/http/api-process.js';
import { fixture } from '../support/process/fixture.js';

/** Starts a program as the launcher does, prints its process id, and is killed while the program still loads its modules. */
const LAUNCHER = `
  const child = require('node:child_process').fork(process.argv[1], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  process.stdout.write(String(child.pid), () => setTimeout(() => process.exit(0), 100));`;

await buildOnce();
const database = await fixture(createTestDatabase());

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it.each(['api', 'portal', 'worker'])('the %s ends when its launcher dies before it is ready', async (app) => {
  const main = fileURLToPath(new URL(`../../dist/apps/${app}/src/main.js`, import.meta.url));
  const env = { ...urlsOf(database), ENCRYPTION_KEY: randomBytes(32).toString('hex'), PORT: '0', PORTAL_PORT: '0', NODE_ENV: 'test' };
  const pid = Number(execFileSync(process.execPath, ['-e', LAUNCHER, main], { env, encoding: 'utf8' }));
  try {
    await vi.waitUntil(() => !isRunning(pid));
  } finally {
    if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  }
  expect(isRunning(pid)).toBe(false);
});
