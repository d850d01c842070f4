/** Who makes a change, and in which request: a person in the portal, an API key, or neither (worker and operator). */
export interface Actor {
  userId: string | null;
  apiKeyId?: string | null;
  requestId: string;
  /** Where a manager or a key’s program is. Of other people it is not recorded: no school learns where a family was. */
  network?: string | null;
}

/** A person who makes a change. */
export type ActingPerson = Actor & { userId: string };

/** The actor of the command line, which has no request id. */
export const OPERATOR: Actor = { userId: null, requestId: 'cli' };
