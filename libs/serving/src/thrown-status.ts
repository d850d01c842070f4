import { HttpException } from '@nestjs/common';

/** The status of an error from Nest, Express or its parsers; undefined for any other error. */
export function statusOf(thrown: unknown): number | undefined {
  if (thrown instanceof HttpException) return thrown.getStatus();
  return thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number' ? thrown.status : undefined;
}
