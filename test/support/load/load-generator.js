/**
 * Generates traffic in a separate process, so that it measures only the API. Reads lanes as JSON from standard input and
 * prints their results. Uses raw sockets to save CPU: everything shares two cores.
 *
 * A lane has `requests` (bytes, in rotation), `connections`, `seconds`, and optionally a `rate` per second. With a rate it
 * is an open loop: requests are sent when due if a connection is idle. Without one it is a closed loop: each connection
 * sends the next request after an answer, within the lane's `bytesPerSecond`. In a lane that `walks`, each connection
 * follows the cursors of its own list, again and again; its requests ask for `cursor=start`.
 */
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';

const TICK = 5;
/** Time to open connections before sending (ms): a busy server accepts one per iteration of its event loop. */
const LEAD = 1_000;
/** Longer than any response may take (ms). */
const PATIENCE = 15_000;
/** Where the next cursor is: at the end of a page. */
const TAIL = 400;

const { port, lanes } = await json(process.stdin);
const results = await Promise.all(lanes.map(run));
process.stdout.write(JSON.stringify(results), () => process.exit(0));

function run(lane) {
  const { requests, connections, seconds, rate = 0, delay = 0, abandons = false, walks = false } = lane;
  const { bytesPerSecond = Infinity } = lane;
  const began = performance.now() + LEAD + delay * 1000;
  const end = began + seconds * 1000;
  const total = Math.floor(seconds * rate);
  const answers = [];
  const idle = [];
  let next = 0;
  let sent = 0;
  let open = 0;
  let unsent = 0;
  let allowance = 0;

  return new Promise((resolve) => {
    const finish = () => {
      clearInterval(timer);
      resolve({ answers, unsent, seconds });
    };
    const settle = () => {
      if (performance.now() >= end && open === 0 && sent >= total) finish();
    };

    /** One connection, reopened when it closes. */
    const client = (_, index) => {
      let socket = null;
      let cursor = 'start';
      let tail = '';
      let at = 0;
      let pending = false;
      let head = '';
      let left = -1;
      let status = 0;
      let retryAfter = false;
      let closing = false;
      const over = () => {
        const now = performance.now();
        answers.push([
          Math.round(performance.timeOrigin + at),
          status,
          Math.round((now - at) * 10) / 10,
          retryAfter ? 1 : 0,
        ]);
        pending = false;
        open--;
        if (walks && status === 200) cursor = /"next_cursor":"([^"]+)"/.exec(tail)?.[1] ?? 'start';
        tail = '';
        head = '';
        left = -1;
        status = 0;
        if (closing) {
          // Discards the rest of the request.
          socket?.destroy();
          socket = null;
          closing = false;
        }
        if (rate === 0 && now < end && allowance > 0) send();
        else idle.push(send);
        settle();
      };
      const read = (chunk) => {
        if (!pending) return;
        if (walks) tail = (tail + chunk.subarray(-TAIL).toString('latin1')).slice(-TAIL);
        if (left < 0) {
          head += chunk.toString('latin1');
          const split = head.indexOf('\r\n\r\n');
          if (split < 0) return;
          const top = head.slice(0, split);
          status = Number(top.slice(9, 12));
          retryAfter = /\nretry-after: *[1-9]/i.test(top);
          closing = /\nconnection: *close/i.test(top);
          const length = /\ncontent-length: *(\d+)/i.exec(top);
          // A chunked body ends with the last chunk.
          left = length ? Number(length[1]) - (head.length - split - 4) : head.endsWith('\r\n0\r\n\r\n') ? 0 : Infinity;
        } else if (left === Infinity) {
          // The last chunk may arrive in two pieces.
          head = (head.slice(-6) + chunk.subarray(-7).toString('latin1')).slice(-7);
          if (head === '\r\n0\r\n\r\n') left = 0;
        } else {
          left -= chunk.length;
        }
        if (left <= 0) over();
      };
      const begin = () => {
        const fresh = connect(port, '127.0.0.1');
        socket = fresh;
        fresh.setNoDelay();
        fresh.on('data', read);
        fresh.on('error', () => undefined);
        fresh.on('timeout', () => pending && fresh.destroy());
        fresh.on('close', () => {
          // Cut off before or during the response: status 0.
          if (fresh !== socket) return;
          socket = null;
          if (!pending) return;
          status = 0;
          over();
        });
      };
      const send = () => {
        at = performance.now();
        pending = true;
        open++;
        const bytes = walks
          ? requests[index % requests.length].replace('cursor=start', `cursor=${cursor}`)
          : requests[next++ % requests.length];
        if (!socket || socket.destroyed || !socket.writable) begin();
        const asked = socket;
        asked.setTimeout(PATIENCE);
        asked.write(bytes, 'latin1');
        allowance -= bytes.length;
      };
      begin();
      return send;
    };

    idle.push(...Array.from({ length: connections }, client));
    const timer = setInterval(() => {
      const now = performance.now();
      if (now < began) return;
      if (rate === 0 && now < end) {
        allowance = Math.min(0, allowance) + (bytesPerSecond * TICK) / 1000;
        while (idle.length > 0 && allowance > 0) idle.shift()();
        return;
      }
      const due = (now < end ? Math.floor(((now - began) / 1000) * rate) : total) - sent;
      for (let count = 0; count < due; count++) {
        sent++;
        const send = idle.shift();
        if (send) send();
        else unsent++;
      }
      if (now >= end && abandons) finish();
      else if (now >= end) settle();
    }, TICK);
  });
}
