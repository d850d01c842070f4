import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

/**
 * A program whose clients hold connections open with minimal work and reconnect when cut off. Runs in its own process
 * to keep measurements undisturbed. Node only strips types, so no other TypeScript syntax is possible here.
 */
export type SlowKind = 'headers' | 'body' | 'reader';

/** The first message. */
export interface SlowPlan {
  port: number;
  /** What clients of each kind send first, in rotation. */
  bytes: Record<SlowKind, string[]>;
  /** Concurrent clients of each kind. */
  count: Record<SlowKind, number>;
  /** Seconds over which the first clients start. */
  within: Record<SlowKind, number>;
}

/** The reply to any other message. A reader's clock starts once the kernel's buffers are full. */
export interface SlowReport {
  /** Seconds after which each client was cut off. */
  cuts: Record<SlowKind, number[]>;
  /** The longest time that an open connection has lasted (s). */
  oldest: Record<SlowKind, number>;
  /** Statuses that slow senders got. */
  answers: string[];
  /** The clients that were cut off within a second. */
  refused: string[];
}

/** How often a client sends or reads a byte, and how often readers are checked (ms). */
const DRIP_MS = 3_000;
const LOOK_MS = 500;
const ESTABLISHED = '01';
/** A reader that takes fewer bytes remains slow. The server has the same limit. */
const ENOUGH = 16_384;
const KINDS: SlowKind[] = ['headers', 'body', 'reader'];

interface Attempt {
  kind: SlowKind;
  socket: Socket;
  began: number;
  /** Of a reader: bytes that the kernel took from the server. */
  taken: number;
  /** What the last look saw of these. */
  seen: number;
  drip: NodeJS.Timeout;
}

const attempts = new Set<Attempt>();
const cuts: Record<SlowKind, number[]> = { headers: [], body: [], reader: [] };
const answers = new Set<string>();
const refused: string[] = [];
let opened = 0;

process.once('message', (plan: SlowPlan) => {
  for (const kind of KINDS) {
    for (let n = 0; n < plan.count[kind]; n++) {
      setTimeout(open, (n / plan.count[kind]) * plan.within[kind] * 1_000, plan, kind);
    }
  }
  setInterval(look, LOOK_MS, plan);
  process.on('message', () => process.send!(report()));
});

function open(plan: SlowPlan, kind: SlowKind): void {
  const socket = connect(plan.port, '127.0.0.1');
  const reads = kind === 'reader';
  const drip = setInterval(() => {
    if (reads) socket.read(1);
    else socket.write('a');
  }, DRIP_MS);
  const attempt: Attempt = { kind, socket, began: performance.now(), taken: 0, seen: 0, drip };
  attempts.add(attempt);
  const bytes = plan.bytes[kind];
  socket.on('error', () => undefined).write(bytes[opened++ % bytes.length]!);
  if (reads) socket.on('readable', () => undefined);
  else socket.on('data', (chunk: Buffer) => answers.add(chunk.toString('latin1').slice(9, 12)));
  socket.once('close', () => over(plan, attempt));
}

/** Checks the kernel's list of connections, because a client that hardly reads does not notice that it was cut off. */
function look(plan: SlowPlan): void {
  /** Bytes in the kernel's buffers, the server's and the client's, by the client's port. */
  const buffered = new Map<number, number>();
  for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n')) {
    const [, local, remote, state, queues] = line.trim().split(/\s+/);
    if (state !== ESTABLISHED) continue;
    const [sending, receiving] = queues!.split(':').map((size) => parseInt(size, 16));
    const [port, bytes] = portOf(local!) === plan.port ? [portOf(remote!), sending!] : [portOf(local!), receiving!];
    buffered.set(port, (buffered.get(port) ?? 0) + bytes);
  }
  for (const attempt of attempts) {
    const { kind, socket } = attempt;
    const port = socket.localPort;
    if (kind !== 'reader' || !port) continue;
    const bytes = buffered.get(port);
    if (bytes === undefined) {
      over(plan, attempt);
      continue;
    }
    const seen = socket.bytesRead + bytes;
    // Bytes that have arrived but are not yet acknowledged are in both buffers for a moment.
    const taken = Math.min(seen, attempt.seen);
    attempt.seen = seen;
    if (taken >= attempt.taken + ENOUGH) Object.assign(attempt, { taken, began: performance.now() - LOOK_MS });
  }
}

const portOf = (address: string) => parseInt(address.split(':')[1]!, 16);

function over(plan: SlowPlan, attempt: Attempt): void {
  const { kind, socket, began, taken, drip } = attempt;
  clearInterval(drip);
  const seconds = (performance.now() - began) / 1_000;
  const unread = String(socket.read()).slice(0, 15);
  socket.destroy();
  if (!attempts.delete(attempt)) return;
  if (seconds < 1) refused.push(`${kind} after ${seconds.toFixed(2)} s and ${taken} bytes: ${unread}`);
  else cuts[kind].push(seconds);
  open(plan, kind);
}

function report(): SlowReport {
  const oldest: Record<SlowKind, number> = { headers: 0, body: 0, reader: 0 };
  for (const { kind, began } of attempts) {
    oldest[kind] = Math.max(oldest[kind], (performance.now() - began) / 1_000);
  }
  return { cuts, oldest, answers: [...answers], refused };
}
