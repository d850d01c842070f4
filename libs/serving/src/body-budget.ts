import type { Response } from 'express';
import { onceClosed } from './once-closed.js';

export interface BodyBudgetRules {
  /** Bytes of request bodies that the process may hold at a time. */
  most: number;
  /** Bytes per owner, so that a client that sends only half of its bodies leaves room for others. */
  share: number;
  /** The error thrown when a limit is exceeded. */
  refusal: () => Error;
}

/** Counts the bodies in flight. A request takes its bytes before its body is read, and holds them until it ends. */
export class BodyBudget {
  private used = 0;
  private readonly byOwner = new Map<string, number>();

  constructor(private readonly rules: BodyBudgetRules) {}

  /**
   * Takes bytes until the response is sent or the connection closes.
   *
   * @throws the refusal if too many bytes are in flight, before reading any of the body
   */
  take(response: Response, owner: string, bytes: number): void {
    if (!this.hasRoom(owner, bytes)) throw this.rules.refusal();
    this.add(owner, bytes);
    onceClosed(response, () => {
      this.add(owner, -bytes);
    });
  }

  /** Whether {@link take} would succeed. */
  hasRoom(owner: string, bytes: number): boolean {
    const { most, share } = this.rules;
    return this.used + bytes <= most && (this.byOwner.get(owner) ?? 0) + bytes <= share;
  }

  /** Bytes in flight, and the number of their owners. */
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
