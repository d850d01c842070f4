import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

const MISSING =
  'The tests need a redis-server on the PATH: install one first (Debian: apt-get install redis-server, macOS: brew install redis).';

/** Debian asks this file before a package starts its service; 101 means no. */
const POLICY = '/usr/sbin/policy-rc.d';

/**
 * Makes sure that there is a redis-server on the PATH: installs Debian's package where this process may (root, apt-get).
 *
 * @throws Error with one plain sentence where it may not, or where that fails
 */
export function ensureRedis(): void {
  if (found('redis-server')) return;
  if (process.getuid?.() !== 0 || !found('apt-get')) throw new Error(MISSING);
  // The tests start servers of their own: the package's service is not wanted.
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    // Package lists may be missing (containers) or old: fetched only when the first try fails.
    const failed = install() && (apt('update'), install());
    if (failed || !found('redis-server')) throw new Error(`${MISSING} Installing it here failed: ${failed}`);
  } finally {
    if (ours) rmSync(POLICY, { force: true });
  }
}

function found(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Returns why it failed; nothing when it did not. */
function install(): string {
  return apt('install', '-y', '--no-install-recommends', 'redis-server');
}

function apt(...args: string[]): string {
  const { status, stderr, error } = spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
    timeout: 300_000,
  });
  return status === 0 ? '' : (error?.message ?? stderr.trim().split('\n').at(-1) ?? `exit ${status}`);
}

/** A real Redis of one spec: empty, noeviction, nothing on disk. It can be killed, brought back and paused. */
export class TestRedis {
  private process: ChildProcess;

  private constructor(
    readonly port: number,
    private readonly folder: string,
  ) {}

  static async start(): Promise<TestRedis> {
    ensureRedis();
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-redis-'));
    for (let attempt = 1; ; attempt++) {
      const redis = new TestRedis(await freePort(), folder);
      try {
        await redis.restart();
        return redis;
      } catch (error) {
        // Somebody else may have taken the port meanwhile.
        if (attempt === 3) throw error;
      }
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the server on its port; resolves when it answers. */
  async restart(): Promise<void> {
    const settings = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder];
    const kept = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];
    const child = spawn('redis-server', [...settings, ...kept], { stdio: 'ignore' });
    this.process = child;
    const client = this.client();
    try {
      for (let attempt = 0; attempt < 100; attempt++) {
        if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
        if ((await client.ping().catch(() => null)) === 'PONG') return;
        await sleep(50);
      }
      throw new Error('redis-server does not answer');
    } catch (error) {
      await this.kill();
      throw error;
    } finally {
      client.disconnect();
    }
  }

  /** Connections are cut, data is gone. */
  async kill(): Promise<void> {
    const { process: child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** It keeps its connections and answers nothing. */
  pause(): void {
    this.process.kill('SIGSTOP');
  }

  resume(): void {
    this.process.kill('SIGCONT');
  }

  /** A client to look inside; the caller disconnects it. */
  client(): Redis {
    const client = new Redis(this.url, { retryStrategy: () => 50, maxRetriesPerRequest: 1 });
    client.on('error', () => undefined);
    return client;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
