import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

/** Longer than a start takes, even on a heavily loaded machine (ms). */
const PATIENCE = 120_000;

interface ServiceOptions {
  settings?: Record<string, string>;
  cwd?: string;
  /** File descriptor for standard output, which is then missing from `output`. */
  stdout?: number;
}

/** `npm start` as a new user runs it, with its own data folder. */
export class Service {
  /** Running services, to stop those that a failed test leaves behind. */
  static readonly running = new Set<Service>();
  output = '';
  ended = false;
  readonly exited: Promise<number | null>;
  private readonly child: ChildProcess;

  constructor(
    private readonly dataDir: string,
    { settings = {}, cwd = inject('scratch'), stdout }: ServiceOptions = {},
  ) {
    const run = fileURLToPath(new URL('../../../scripts/run.js', import.meta.url));
    const env = { PATH: '/usr/bin:/bin', DATA_DIR: dataDir, PORT: '0', ...settings };
    this.child = spawn(process.execPath, [run, 'start'], { cwd, env, stdio: ['ignore', stdout ?? 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    this.exited = new Promise((resolve) => this.child.once('exit', resolve));
    Service.running.add(this);
    void this.exited.then(() => {
      this.ended = true;
      Service.running.delete(this);
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Waits for output that matches. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const found = () => pattern.exec(this.output);
    await vi.waitUntil(() => found() !== null || this.ended, { timeout: PATIENCE, interval: 20 });
    expect(this.output).toMatch(pattern);
    return found()!;
  }

  /** Waits until the service is ready. @returns its base URL */
  async ready(): Promise<string> {
    await this.says(/Ready in/);
    return /Tutoring API +(\S+)/.exec(this.output)![1]!;
  }

  /** Waits until the service has written its address to its data folder, for services without output. */
  async listens(): Promise<string> {
    const note = (): { url: string | null } | null => {
      try {
        return JSON.parse(readFileSync(join(this.dataDir, 'start.lock'), 'utf8')) as { url: string | null };
      } catch {
        return null;
      }
    };
    await vi.waitUntil(() => note()?.url ?? this.ended, { timeout: PATIENCE, interval: 20 });
    return note()!.url!;
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    this.child.kill(signal);
    return this.exited;
  }
}

/** Processes whose command line or environment (ps e) contains the folder. */
export function processesOf(folder: string): string[] {
  const lines = execFileSync('ps', ['axeww', '-o', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(folder) && !/^\s*\d+ +Z/.test(line));
}
