import { canonicalUuid } from '@app/database';
import { PageError } from './page-error.js';

/** An id from a path. @throws PageError 404 for a malformed id */
export function pathId(text: string): string {
  const id = canonicalUuid(text);
  if (id === null) throw PageError.notFound();
  return id;
}
