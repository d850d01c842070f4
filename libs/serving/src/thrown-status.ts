import { HttpException } from '@nestjs/common';

/** The status that an error of Nest, of Express or of its parsers has; undefined for any other error. */
export function statusOf(thrown: unknown): number | undefined {
  if (thrown instanceof HttpException) return thrown.getStatus();
  return thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number' ? thrown.status : undefined;
}
