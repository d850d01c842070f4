import { readFileSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

/**
 * A program whose clients hold connections open with minimal work and reconnect when cut off. Runs in its own process
 * to keep measurements undisturbed. Node only strips types, so no other TypeScript syntax is possible here.
 */
export type SlowKind = 'headers' | 'body' | 'reader';

/** The first message. */
export interface SlowPlan {
  port: number;
  /** What the clients of each kind send first, assigned in rotation. */
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
  /** The clients that were cut off long before any limit. */
  refused: string[];
}

/** How often a client sends or reads a byte (ms). */
const DRIP_MS = 3_000;
/** How often readers are checked (ms). A check takes 30 ms of a core, which the server's other clients feel. */
const LOOK_MS = 1_000;
/** A client that was cut off earlier was refused (s): the shortest limit is 10 s. */
const REFUSED = 3;
const ESTABLISHED = '01';
/** A reader that takes fewer bytes remains slow. The server has the same limit. */
const ENOUGH = 16_384;
const KINDS: SlowKind[] = ['headers', 'body', 'reader'];

interface Attempt {
  kind: SlowKind;
  /** What it sends first, again after each reconnect. */
  bytes: string;
  socket: Socket;
  /** Of the socket, once it is connected. */
  inode?: string;
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

process.once('message', (plan: SlowPlan) => {
  for (const kind of KINDS) {
    const bytes = plan.bytes[kind];
    for (let n = 0; n < plan.count[kind]; n++) {
      const start = (n / plan.count[kind]) * plan.within[kind] * 1_000;
      setTimeout(open, start, plan.port, kind, bytes[n % bytes.length]!);
    }
  }
  setInterval(look, LOOK_MS, plan.port);
  process.on('message', () => process.send!(report()));
});

function open(port: number, kind: SlowKind, bytes: string): void {
  const socket = connect(port, '127.0.0.1');
  const reads = kind === 'reader';
  const drip = setInterval(() => {
    if (reads) socket.read(1);
    else socket.write('a');
  }, DRIP_MS);
  const attempt: Attempt = { kind, bytes, socket, began: performance.now(), taken: 0, seen: 0, drip };
  attempts.add(attempt);
  socket.on('error', () => undefined).write(bytes);
  if (reads) socket.on('readable', () => undefined);
  else socket.on('data', (chunk: Buffer) => answers.add(chunk.toString('latin1').slice(9, 12)));
  socket.once('connect', () => (attempt.inode = inodeOf(socket)));
  socket.once('close', () => over(port, attempt));
}

/** Checks the kernel's list of connections, because a client that hardly reads does not notice that it was cut off. */
function look(server: number): void {
  /** Bytes in the server's buffers, by the client's port, and in the clients' own, by inode: ports are soon used again. */
  const sending = new Map<number, number>();
  const receiving = new Map<string, number>();
  for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n')) {
    const [, local, remote, state, queues, , , , , inode] = line.trim().split(/\s+/);
    if (state !== ESTABLISHED) continue;
    const [sent, received] = queues!.split(':').map((size) => parseInt(size, 16));
    if (portOf(local!) === server) sending.set(portOf(remote!), sent!);
    else receiving.set(inode!, received!);
  }
  for (const attempt of attempts) {
    const { kind, socket, inode } = attempt;
    if (kind !== 'reader' || !inode) continue;
    const received = receiving.get(inode);
    if (received === undefined) {
      over(server, attempt);
      continue;
    }
    const seen = socket.bytesRead + received + (sending.get(socket.localPort!) ?? 0);
    // Bytes that have arrived but are not yet acknowledged are in both buffers for a moment.
    const taken = Math.min(seen, attempt.seen);
    attempt.seen = seen;
    if (taken >= attempt.taken + ENOUGH) Object.assign(attempt, { taken, began: performance.now() - LOOK_MS });
  }
}

/** A socket's inode number. Unlike a port, it is not reused before the client closes its socket. */
function inodeOf(socket: Socket): string {
  const { fd } = (socket as Socket & { _handle: { fd: number } })._handle;
  return /\d+/.exec(readlinkSync(`/proc/self/fd/${fd}`))![0];
}

const portOf = (address: string) => parseInt(address.split(':')[1]!, 16);

function over(port: number, attempt: Attempt): void {
  const { kind, bytes, socket, began, taken, drip } = attempt;
  clearInterval(drip);
  const seconds = (performance.now() - began) / 1_000;
  const unread = String(socket.read()).slice(0, 15);
  socket.destroy();
  if (!attempts.delete(attempt)) return;
  if (seconds < REFUSED) refused.push(`${kind} after ${seconds.toFixed(2)} s and ${taken} bytes: ${unread}`);
  else cuts[kind].push(seconds);
  open(port, kind, bytes);
}

function report(): SlowReport {
  const oldest: Record<SlowKind, number> = { headers: 0, body: 0, reader: 0 };
  for (const { kind, began } of attempts) {
    oldest[kind] = Math.max(oldest[kind], (performance.now() - began) / 1_000);
  }
  return { cuts, oldest, answers: [...answers], refused };
}
