/** Why a value is refused, and its path into the input. An empty path means the record itself. */
export interface Refusal {
  at: readonly (string | number)[];
  reason: string;
}

/** What a rule has against a request. */
export type Reason =
  /** Nothing of this organization has the id. */
  | { kind: 'not_found' }
  /** The record's state does not permit the action, which is possible in the `allowed` ones. */
  | { kind: 'invalid_state'; state: string; allowed: readonly string[] }
  /** Something else that is stored stands in the way. The code is stable, for programs. */
  | { kind: 'conflict'; code: string; details: Readonly<Record<string, unknown>> }
  /** Values that cannot be accepted. */
  | { kind: 'invalid'; refusals: readonly Refusal[] };

/** Thrown by a rule that refuses. It rolls the ambient transaction back; each app turns it into a response in one place. */
export class Refused extends Error {
  private constructor(
    readonly why: Reason,
    message: string,
  ) {
    super(message);
  }

  /** Other organizations' records are refused like those that do not exist. */
  static notFound(): Refused {
    return new Refused({ kind: 'not_found' }, 'No such record in this organization.');
  }

  static invalidState(state: string, allowed: readonly string[], message = inState(state, allowed)): Refused {
    return new Refused({ kind: 'invalid_state', state, allowed }, message);
  }

  static conflict(code: string, message: string, details: Readonly<Record<string, unknown>> = {}): Refused {
    return new Refused({ kind: 'conflict', code, details }, message);
  }

  /** @param at the path to the value; none if the record itself is the obstacle */
  static invalid(reason: string, ...at: (string | number)[]): Refused {
    return Refused.invalidAt([{ at, reason }]);
  }

  /** Several values at once. */
  static invalidAt(refusals: readonly Refusal[]): Refused {
    return new Refused({ kind: 'invalid', refusals }, refusals.map(({ reason }) => reason).join(' '));
  }
}

function inState(state: string, allowed: readonly string[]): string {
  const possible = allowed.map((one) => `"${one}"`).join(' or ');
  return `The status is "${state}". This is possible only while it is ${possible}.`;
}
