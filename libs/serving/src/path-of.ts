import type { IncomingMessage } from 'node:http';

/** The path of a request, without its query string. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
