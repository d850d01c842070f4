import { connect } from 'node:net';

/**
 * A program whose clients hold connections open with minimal work and reconnect when cut off. Runs in its own process
 * to keep measurements undisturbed. Node only strips types, so no other TypeScript syntax is possible here.
 */
export interface SlowClients {
  /** What each client sends first. */
  bytes: string;
  /** Whether it then reads slowly instead of sending slowly. */
  reads: boolean;
  count: number;
}

/** The reply to any message after the first. */
export interface SlowReport {
  /** Seconds after which connections were closed. */
  closed: number[];
  /** Age of the connections that are still open (s). */
  open: number[];
  /** Statuses that slow senders got. */
  statuses: string[];
}

/** How often a client sends or reads a byte (ms). */
const DRIP_MS = 3_000;
/** Time over which the clients start (ms). */
const WITHIN_MS = 2_000;

process.once('message', ({ port, groups }: { port: number; groups: SlowClients[] }) => {
  const reports = groups.map((group) => run(port, group));
  process.on('message', () => {
    process.send!(reports.map((report) => report()));
  });
});

function run(port: number, { bytes, reads, count }: SlowClients): () => SlowReport {
  const closed: number[] = [];
  const began = new Set<{ at: number }>();
  const statuses = new Set<string>();
  const open = () => {
    const attempt = { at: performance.now() };
    began.add(attempt);
    const socket = connect(port, '127.0.0.1');
    const drip = setInterval(() => {
      if (reads) socket.read(1);
      else socket.write('a');
    }, DRIP_MS);
    socket.on('error', () => undefined).write(bytes);
    // Without a listener for data, the socket's buffers fill up.
    if (reads) socket.on('readable', () => undefined);
    else socket.on('data', (chunk: Buffer) => statuses.add(chunk.toString('latin1').slice(9, 12)));
    socket.once('close', () => {
      clearInterval(drip);
      began.delete(attempt);
      closed.push((performance.now() - attempt.at) / 1_000);
      open();
    });
  };
  for (let n = 0; n < count; n++) setTimeout(open, (n / count) * WITHIN_MS);
  return () => ({ closed, open: [...began].map(({ at }) => (performance.now() - at) / 1_000), statuses: [...statuses] });
}
