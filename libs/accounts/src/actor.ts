/** Who changes something, and in which request: a person in the portal, an API key, or neither (the worker, the operator). */
export interface Actor {
  userId: string | null;
  apiKeyId?: string | null;
  requestId: string;
}

/** A person who changes something. */
export type ActingPerson = Actor & { userId: string };

/** The command line's, which has no request to name. */
export const OPERATOR: Actor = { userId: null, requestId: 'cli' };
