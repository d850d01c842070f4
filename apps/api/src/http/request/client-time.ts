import type { Request } from 'express';
import type { Deadline } from '@app/database';
import { withoutPlace } from '@app/serving';

declare module 'express-serve-static-core' {
  interface Request {
    deadline: Deadline;
  }
}

/** Runs work that waits for the client to send. The client's time uses up neither a place nor the deadline. */
export async function whileClientSends<T>(request: Request, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await withoutPlace(request, work);
  } finally {
    request.deadline.extend(performance.now() - began);
  }
}
