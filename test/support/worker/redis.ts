import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePorts } from '../process/free-ports.js';
import { findServer, REDIS, type ServerBinary } from '../process/server-binary.js';

/** One spec's real Redis: empty, noeviction, without persistence. It can be killed, restarted and paused. */
export class TestRedis {
  private process: ChildProcess;

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly binary: ServerBinary,
  ) {}

  static async start(): Promise<TestRedis> {
    const binary = findServer(REDIS);
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-redis-'));
    for (let attempt = 1; ; attempt++) {
      const redis = new TestRedis(await freePorts(1), folder, binary);
      try {
        await redis.restart();
        return redis;
      } catch (error) {
        // Another process may have taken the port in the meantime.
        if (attempt === 3) throw error;
      }
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the server again on its port; resolves when it answers. */
  async restart(): Promise<void> {
    const settings = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder];
    const kept = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];
    const { program, env } = this.binary;
    const child = spawn(program, [...settings, ...kept], { stdio: 'ignore', env: { ...process.env, ...env } });
    this.process = child;
    const client = this.client();
    try {
      for (let attempt = 0; attempt < 1_000; attempt++) {
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

  /** Cuts connections and loses all data. */
  async kill(): Promise<void> {
    const { process: child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Keeps connections open but answers nothing. */
  pause(): void {
    this.process.kill('SIGSTOP');
  }

  resume(): void {
    this.process.kill('SIGCONT');
  }

  /** A client to inspect Redis with; the caller must disconnect it. */
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
