import type { Response } from 'express';
import { onceClosed } from './once-closed.js';

export interface BodyBudgetRules {
  /** Bytes of bodies that the process holds at a time, … */
  most: number;
  /** … and of those the bytes of one owner: who half-sends bodies leaves the rest to others. */
  share: number;
  /** What is thrown beyond that. */
  refusal: () => Error;
}

/** Counts the bodies in flight. A request takes its bytes before its body is read, and has them until it is over. */
export class BodyBudget {
  private used = 0;
  private readonly byOwner = new Map<string, number>();

  constructor(private readonly rules: BodyBudgetRules) {}

  /**
   * Given back when the answer is out or the connection closed, whichever way the request goes.
   *
   * @throws the refusal when there are too many bytes in flight; nothing of the body was read then
   */
  take(response: Response, owner: string, bytes: number): void {
    const own = this.byOwner.get(owner) ?? 0;
    const { most, share, refusal } = this.rules;
    if (this.used + bytes > most || own + bytes > share) throw refusal();
    this.add(owner, bytes);
    onceClosed(response, () => {
      this.add(owner, -bytes);
    });
  }

  /** Bytes in flight, and of how many owners. */
  get state(): { bytes: number; owners: number } {
    return { bytes: this.used, owners: this.byOwner.size };
  }

  private add(owner: string, bytes: number): void {
    this.used += bytes;
    const own = (this.byOwner.get(owner) ?? 0) + bytes;
    if (own === 0) this.byOwner.delete(owner);
    else this.byOwner.set(owner, own);
  }
}
