import { SetMetadata } from '@nestjs/common';
import type { Schema, Shape } from '../views/schemas.js';

/** The response of an operation. */
export interface Answer {
  /** The named schemas that the response refers to. */
  shapes: Shape[];
  schema: Schema;
  /** What the request makes has values of what was there before, so that it is hidden as that is. */
  copied?: boolean;
  /** Additional `meta` of a page's example. */
  meta?: object;
}

const ANSWER = 'answer';

/** What the route answers; null for no body. */
export const Answers = (answer: Answer | null) => SetMetadata(ANSWER, answer);

export function answerOf(handler: object): Answer | null {
  return (Reflect.getMetadata(ANSWER, handler) as Answer | null | undefined) ?? null;
}
