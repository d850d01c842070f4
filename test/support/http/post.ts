import { request as send } from 'node:http';

export type Reply = { status: number; headers: Record<string, string | string[] | undefined>; body: string };

/** A request in flight. */
export interface Posted {
  /** Resolves when the whole request has been handed to the network. */
  sent: Promise<void>;
  /** null if the connection broke before the response was complete. */
  reply: Promise<Reply | null>;
}

/** Sends JSON on its own connection to a server that may die during the request. */
export function post(port: number, path: string, headers: Record<string, string>, body: string): Posted {
  const request = send({
    host: '127.0.0.1',
    port,
    path,
    method: 'POST',
    agent: false,
    headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...headers },
  });
  const reply = new Promise<Reply | null>((resolve) => {
    request.on('error', () => resolve(null));
    request.on('close', () => resolve(null));
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('error', () => resolve(null));
      response.on('end', () => {
        const { statusCode, complete } = response;
        resolve(complete ? { status: statusCode!, headers: response.headers, body: text } : null);
      });
    });
  });
  const sent = new Promise<void>((resolve) => {
    request.once('finish', resolve);
    request.once('close', resolve);
  });
  request.end(body);
  return { sent, reply };
}
