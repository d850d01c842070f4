import { connect } from 'node:net';

/** A raw HTTP response. */
export interface RawAnswer {
  /** The request's method. */
  method: string;
  /** 0 if the connection closed without a response. */
  status: number;
  /** Names are in lower case; repeated headers are joined with commas. */
  headers: Record<string, string>;
  body: string;
  /** Statuses of the interim responses before it, such as 100. */
  interim: number[];
  /** Number of final responses on the connection, including this one. */
  answers: number;
}

export interface RawRequest {
  method?: string;
  version?: string;
  /** Sent unchanged and in this order, after Host and Connection: close. */
  headers?: [name: string, value: string][];
  /** Replaces the usual Host header; null omits it. */
  host?: string | null;
  body?: string;
}

/** The bytes of a request. Each character is one byte, so `\xff` is the byte 255. */
export function bytesOf(target: string, request: RawRequest = {}): string {
  const { method = 'GET', version = 'HTTP/1.1', headers = [], host = '127.0.0.1', body = '' } = request;
  const first: [string, string][] = host === null ? [] : [['Host', host]];
  const lines = [...first, ['Connection', 'close'], ...headers].map(([name, value]) => `${name}: ${value}`);
  return `${method} ${target} ${version}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

/**
 * Sends bytes on their own connection and reads until the server closes it. Uses no HTTP client, because clients reject
 * or repair bad requests.
 */
export async function exchange(port: number, bytes: string, patience = 60_000): Promise<RawAnswer> {
  return parse(await everythingSaid(port, bytes, patience), bytes.split(' ', 1)[0]!);
}

function everythingSaid(port: number, bytes: string, patience: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(bytes, 'latin1')));
    socket.setTimeout(patience, () => {
      socket.destroy();
      reject(new Error(`The connection stayed open for ${patience} ms after ${JSON.stringify(bytes.slice(0, 200))}`));
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that closes while bytes are in flight resets the connection. What it sent before that still counts.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      resolve(Buffer.concat(chunks).toString('latin1'));
    });
  });
}

function parse(text: string, method: string): RawAnswer {
  const found: RawAnswer = { method, status: 0, headers: {}, body: '', interim: [], answers: 0 };
  for (let rest = text; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n');
    const [line = '', ...fields] = (end < 0 ? rest : rest.slice(0, end)).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? NaN);
    if (end < 0 || Number.isNaN(status)) throw new Error(`Not an HTTP answer: ${JSON.stringify(rest.slice(0, 200))}`);
    rest = rest.slice(end + 4);
    if (status < 200) {
      found.interim.push(status);
      continue;
    }
    const headers = headersOf(fields);
    // Responses to HEAD announce a body but do not send it, unless the server could not parse the method.
    const bare = method === 'HEAD' && (rest === '' || rest.startsWith('HTTP/'));
    const chunked = !bare && headers['transfer-encoding'] === 'chunked' ? joined(rest) : null;
    const length = bare ? 0 : (chunked?.length ?? Number(headers['content-length'] ?? rest.length));
    if (++found.answers === 1) {
      const body = Buffer.from(chunked?.body ?? rest.slice(0, length), 'latin1').toString('utf8');
      Object.assign(found, { status, headers, body });
    }
    rest = rest.slice(length);
  }
  return found;
}

/** Decodes a chunked body. @returns the body and its encoded length */
function joined(text: string): { body: string; length: number } {
  let body = '';
  for (let at = 0; ;) {
    const start = text.indexOf('\r\n', at) + 2;
    const size = parseInt(text.slice(at, start), 16);
    if (start < 2 || Number.isNaN(size)) throw new Error(`Not a chunk: ${JSON.stringify(text.slice(at, at + 50))}`);
    body += text.slice(start, start + size);
    at = start + size + 2;
    if (size === 0) return { body, length: at };
  }
}

function headersOf(fields: string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const field of fields) {
    const colon = field.indexOf(':');
    const name = field.slice(0, colon).toLowerCase();
    const value = field.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}
