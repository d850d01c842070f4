import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ImageFault, ImageFormat } from './formats.js';
import { type TemporaryFile, TemporaryFileError } from './temporary-file.js';

/** Pixels that a picture is to fit into: then it becomes a small PNG on white. */
export interface Box {
  width: number;
  height: number;
}

/** A request to the child. */
export interface Job {
  size: number;
  box?: Box;
}

/** The child's reply. */
export type Reply = { format: ImageFormat; size: number } | ImageFault;

/** `starved`: it took long because the machine gave it no CPU; `killed`: by somebody else. */
export type EndCause = 'time' | 'memory' | 'starved' | 'killed' | 'not_started' | 'crash';

export class ImageProcessEnded extends Error {
  constructor(
    readonly reason: EndCause,
    details: string,
  ) {
    super(`The image process ended (${reason}): ${details}`);
  }
}

/** How often its memory is checked (ms): a decoder allocates about 100 MB in between. */
const SAMPLE_EVERY = 50;

/** How much of the child's stderr is logged (characters). */
const MAX_STDERR = 1_000;

/** V8's limits (MB). Pictures are not on its heap. */
const HEAP_FLAGS = ['--max-old-space-size=64', '--max-semi-space-size=2'];

/**
 * The child's whole environment, so that it gets no secrets of this process. Two arenas, because glibc would take one
 * for each thread. It would also raise its threshold for memory that goes back to the system as soon as it is freed: 10 MB
 * would stay with each large picture, and the process would soon be replaced, whose start blocks this one for 15 ms. The
 * other threshold keeps libvips from putting large pictures into temporary files.
 */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '65536', VIPS_DISC_THRESHOLD: '4g' };

/** Decodes and encodes images in a process of its own, which is killed at its limits: isolates this one from bombs and decoder bugs. */
export class ImageProcess {
  /** The built program. Tests run from the sources and set it. */
  static program = fileURLToPath(new URL('./child.js', import.meta.url));
  /** A process stopped at `ms` with less CPU time than this was delayed by the machine, not by the image. */
  static readonly limits = { ms: 19_000, cpuMs: 10_000, bytes: 512 * 1_048_576 };

  private reason: EndCause | null = null;
  private stderr = '';
  private readonly ended: Promise<ImageProcessEnded>;
  private readonly death = new AbortController();

  private constructor(private readonly child: ChildProcess) {
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-MAX_STDERR);
    });
    // A broken pipe means that the process has ended, which is reported elsewhere.
    child.stdin!.on('error', () => undefined);
    child.stdout!.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      const end = (reason: EndCause, details: string) => {
        this.death.abort();
        resolve(new ImageProcessEnded(this.reason ?? reason, details));
      };
      child.once('error', (error) => end('not_started', error.message));
      child.once('exit', (code, signal) => {
        const outside = signal === 'SIGKILL' || signal === 'SIGTERM';
        end(outside ? 'killed' : 'crash', `${signal ?? code} ${this.stderr}`.trim());
      });
    });
  }

  /** @throws ImageProcessEnded */
  static async start(): Promise<ImageProcess> {
    const process = new ImageProcess(spawn());
    const ready = once(process.child, 'message', { signal: AbortSignal.timeout(ImageProcess.limits.ms) }).then(
      () => null,
      () => new ImageProcessEnded('not_started', 'It was not ready in time'),
    );
    const failure = await Promise.race([ready, process.ended]);
    if (failure === null) return process;
    process.kill('not_started');
    throw new ImageProcessEnded('not_started', failure.message);
  }

  /** One image at a time, written to `output`. @throws ImageProcessEnded, TemporaryFileError: in either case the process is gone */
  async reencode(input: TemporaryFile, output: TemporaryFile, box?: Box): Promise<Reply> {
    const done = new AbortController();
    void this.enforceLimits(done.signal);
    try {
      return await this.exchange(input, output, box);
    } catch (error) {
      if (!(error instanceof TemporaryFileError)) throw await this.ended;
      // Leftover output would be read as the next image.
      this.kill('killed');
      throw error;
    } finally {
      done.abort();
    }
  }

  /** Whether it may be given an image. */
  get alive(): boolean {
    return !this.death.signal.aborted && this.reason === null;
  }

  /** Bytes of memory that it holds. */
  residentBytes(): Promise<number> {
    return residentBytes(this.child.pid!);
  }

  kill(reason: EndCause): void {
    if (!this.alive) return;
    this.reason ??= reason;
    this.child.kill('SIGKILL');
  }

  private async exchange(input: TemporaryFile, output: TemporaryFile, box?: Box): Promise<Reply> {
    const { signal } = this.death;
    const { stdin, stdout } = this.child as { stdin: Writable; stdout: Readable };
    const answer = once(this.child, 'message', { signal }) as Promise<[Reply]>;
    // Awaited below, unless the pipe breaks first.
    answer.catch(() => undefined);
    this.child.send({ size: input.size, box } satisfies Job);
    for await (const chunk of input.chunks()) {
      if (!stdin.write(Buffer.from(chunk))) await once(stdin, 'drain', { signal });
    }
    const [reply] = await answer;
    if ('refusal' in reply) return reply;
    while (output.size < reply.size) {
      const chunk = stdout.read() as Buffer | null;
      if (chunk) await output.append(chunk);
      else await once(stdout, 'readable', { signal });
    }
    return reply;
  }

  private async enforceLimits(done: AbortSignal): Promise<void> {
    const { ms, cpuMs, bytes } = ImageProcess.limits;
    const deadline = performance.now() + ms;
    const cpuBefore = await cpuTime(this.child.pid!);
    while (this.alive && !done.aborted) {
      if ((await this.residentBytes()) > bytes) {
        this.kill('memory');
      } else if (performance.now() > deadline) {
        const worked = (await cpuTime(this.child.pid!)) - cpuBefore;
        this.kill(worked < cpuMs ? 'starved' : 'time');
      }
      await sleep(SAMPLE_EVERY, undefined, { signal: done }).catch(() => undefined);
    }
  }
}

function spawn(): ChildProcess {
  try {
    const child = fork(ImageProcess.program, {
      cwd: '/',
      env: ENVIRONMENT,
      execArgv: HEAP_FLAGS,
      // In a session of its own, which has a priority of its own.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    });
    if (child.pid !== undefined) lowerSession(child.pid);
    return child;
  } catch (error) {
    // For example, no file descriptors are left for the pipes.
    throw new ImageProcessEnded('not_started', (error as Error).message);
  }
}

/** A quarter of a core beside a busy session. Requests wait no longer than at 10, which leaves a tenth to it. */
const SESSION_NICE = 5;

/**
 * Linux shares the processors among sessions before it looks at the priorities of threads (see sched(7), autogroup), and
 * PostgreSQL's processes have sessions of their own. While an image keeps their processor busy, they wait 0.4 ms for it
 * with this and 3 ms without (p90). Called by the parent, because loading the program already takes 0.2 s of CPU.
 */
function lowerSession(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(SESSION_NICE));
  } catch {
    // Not Linux, or it shares the processors in another way.
  }
}

const run = promisify(execFile);

/** 0 when the process is gone. */
async function residentBytes(pid: number): Promise<number> {
  try {
    const kilobytes =
      process.platform === 'linux'
        ? /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'latin1'))?.[1]
        : (await run('ps', ['-o', 'rss=', '-p', String(pid)])).stdout;
    return Number(kilobytes ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

/** CPU time of the process so far (ms). Only Linux reports it; elsewhere it counts as busy. */
async function cpuTime(pid: number): Promise<number> {
  try {
    // proc(5): after the name in parentheses come the state and, as fields 12 and 13, user and system time in hundredths of a second.
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return NaN;
  }
}
