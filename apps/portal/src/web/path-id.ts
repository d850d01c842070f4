import { PageError } from './page-error.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An id from a path. @throws PageError 404 for a malformed id */
export function pathId(text: string): string {
  if (!UUID.test(text)) throw PageError.notFound();
  return text.toLowerCase();
}
