import type { IncomingMessage } from 'node:http';
import { pathOf } from '@app/serving';

const URGENT = new Set(['/v1/ping', '/health/live', '/health/ready', '/metrics']);

/** Cheap requests that others use to check whether the service works: admitted even when nothing else is. */
export function isUrgent(request: IncomingMessage): boolean {
  return URGENT.has(pathOf(request));
}
