import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { Random } from './random.js';

export type SlowKind = 'headers' | 'body' | 'reader';

/** How often a slow client does as much as a byte's work, and how often readers are looked at (ms). */
const DRIP_MS = 3_000;
const LOOK_MS = 500;
const ESTABLISHED = '01';

interface Attempt {
  kind: SlowKind;
  socket: Socket;
  began: number;
  drip: NodeJS.Timeout;
}

/** Clients who hold connections with as little work as possible, and come back when they are cut. */
export class SlowAttack {
  /** Seconds until each of those that were cut was cut. */
  readonly cuts: Record<SlowKind, number[]> = { headers: [], body: [], reader: [] };
  /** What those who sent slowly were told. */
  readonly answers = new Set<string>();
  /** Attempts that ended at once, without having been one. */
  refused = 0;
  private readonly attempts = new Set<Attempt>();
  private readonly starts: NodeJS.Timeout[] = [];
  private readonly looking: NodeJS.Timeout;
  private running = true;

  /**
   * @param count how many of each kind at a time
   * @param within over how many seconds the first ones are spread
   */
  constructor(
    private readonly port: number,
    private readonly bytes: Record<SlowKind, () => string>,
    count: Record<SlowKind, number>,
    within: Record<SlowKind, number>,
    random: Random,
  ) {
    for (const kind of Object.keys(count) as SlowKind[]) {
      for (let n = 0; n < count[kind]; n++) {
        this.starts.push(setTimeout(() => this.open(kind), random.next() * within[kind] * 1_000));
      }
    }
    this.looking = setInterval(() => {
      this.look();
    }, LOOK_MS);
  }

  /** How long the oldest connection of a kind is open (s). */
  oldest(kind: SlowKind): number {
    const open = [...this.attempts].filter((attempt) => attempt.kind === kind);
    return Math.max(0, ...open.map(({ began }) => performance.now() - began)) / 1_000;
  }

  stop(): void {
    this.running = false;
    clearInterval(this.looking);
    for (const start of this.starts) clearTimeout(start);
    for (const { socket, drip } of this.attempts) {
      clearInterval(drip);
      socket.destroy();
    }
  }

  private open(kind: SlowKind): void {
    const socket = connect(this.port, '127.0.0.1');
    const attempt: Attempt = {
      kind,
      socket,
      began: performance.now(),
      drip: setInterval(() => {
        if (kind === 'reader') socket.read(1);
        else socket.write('a');
      }, DRIP_MS),
    };
    this.attempts.add(attempt);
    socket.on('error', () => undefined).write(this.bytes[kind]());
    if (kind === 'reader') socket.on('readable', () => undefined);
    else socket.on('data', (chunk: Buffer) => this.answers.add(chunk.toString('latin1').slice(9, 12)));
    socket.once('close', () => {
      this.over(attempt);
    });
  }

  /** A client that reads nothing does not hear that its connection is gone: the system knows. */
  private look(): void {
    const open = new Set<number>();
    for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n')) {
      const [, local, , state] = line.trim().split(/\s+/);
      if (state === ESTABLISHED) open.add(parseInt(local!.split(':')[1]!, 16));
    }
    for (const attempt of this.attempts) {
      const { kind, socket } = attempt;
      if (kind === 'reader' && socket.localPort !== undefined && !open.has(socket.localPort)) this.over(attempt);
    }
  }

  private over(attempt: Attempt): void {
    const { kind, socket, began, drip } = attempt;
    clearInterval(drip);
    socket.destroy();
    if (!this.attempts.delete(attempt) || !this.running) return;
    const seconds = (performance.now() - began) / 1_000;
    if (seconds < 1) this.refused++;
    else this.cuts[kind].push(seconds);
    this.open(kind);
  }
}
