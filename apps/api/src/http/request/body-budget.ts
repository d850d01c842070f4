import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Overloaded } from '../errors/api-error.js';
import { onceClosed } from './once-closed.js';

/**
 * Bytes of bodies that this process holds at a time: twenty of the longest posts, or thousands of usual requests. What is
 * parsed of a body takes about as much again, and both fit beside the 256 MB of the heap.
 */
const MOST = 64 * 1_048_576;

/** Half: one organization that half-sends bodies leaves as much to the others. */
const MOST_OF_ORGANIZATION = MOST / 2;

/** What an upload holds: a few buffers of its streams. The file itself goes to the disk. */
export const UPLOAD_BYTES = 262_144;

/** Counts the bodies in flight. A request takes its bytes before its body is read, and has them until it is over. */
@Injectable()
export class BodyBudget {
  private used = 0;
  private readonly byOrganization = new Map<string, number>();

  /**
   * Given back when the answer is out or the connection closed, whichever way the request goes.
   *
   * @throws Overloaded when there are too many bytes in flight; nothing of the body was read then
   */
  take(response: Response, organizationId: string, bytes: number): void {
    const own = this.byOrganization.get(organizationId) ?? 0;
    if (this.used + bytes > MOST || own + bytes > MOST_OF_ORGANIZATION) throw new Overloaded(1);
    this.add(organizationId, bytes);
    onceClosed(response, () => {
      this.add(organizationId, -bytes);
    });
  }

  /** Bytes in flight, and of how many organizations. */
  get state(): { bytes: number; organizations: number } {
    return { bytes: this.used, organizations: this.byOrganization.size };
  }

  private add(organizationId: string, bytes: number): void {
    this.used += bytes;
    const own = (this.byOrganization.get(organizationId) ?? 0) + bytes;
    if (own === 0) this.byOrganization.delete(organizationId);
    else this.byOrganization.set(organizationId, own);
  }
}
