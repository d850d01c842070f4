import type { IncomingMessage, ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { OnApplicationShutdown } from '@nestjs/common';
import { onceClosed } from './once-closed.js';

/** A request, with its place once it has been admitted. */
type Admitted = IncomingMessage & { slot?: Slot };

const MOST_URGENT = 64;
const MOST_URGENT_OF_OWNER = 16;

/** While the event loop's average delay exceeds this (ms), a quarter of the usual number of requests is admitted. */
const LATE = 100;
const LATE_SHARE = 1 / 4;
/** How often the delay is checked (ms): long enough that a single garbage collection does not count. */
const LOOK = 500;
const RESOLUTION = 20;

export interface AdmissionRules {
  /** Concurrent requests in total. */
  most: number;
  /** Concurrent requests of one owner. */
  share: number;
  /** The owner that a request counts towards. It is not authenticated yet. */
  ownerOf: (request: IncomingMessage) => string;
  /** Cheap requests that others use to check whether the service works: admitted even when nothing else is. */
  isUrgent: (request: IncomingMessage) => boolean;
}

/** Places for requests; one owner holds at most its share. */
class Places {
  private taken = 0;
  private readonly byOwner = new Map<string, number>();

  constructor(
    private readonly most: number,
    private readonly share: number,
  ) {}

  /** @param part the fraction of all places that may be used */
  hasRoom(owner: string, part = 1): boolean {
    return this.taken < this.most * part && (this.byOwner.get(owner) ?? 0) < this.share * part;
  }

  add(owner: string): void {
    this.taken++;
    this.byOwner.set(owner, (this.byOwner.get(owner) ?? 0) + 1);
  }

  leave(owner: string): void {
    this.taken--;
    const own = this.byOwner.get(owner)! - 1;
    if (own > 0) this.byOwner.set(owner, own);
    else this.byOwner.delete(owner);
  }

  get inFlight(): number {
    return this.taken;
  }
}

/** The place of one request. It is released while waiting for the client: a slow client must not keep others out. */
class Slot {
  private held = true;

  constructor(
    private readonly places: Places,
    private readonly owner: string,
  ) {}

  release(): void {
    if (this.held) this.places.leave(this.owner);
    this.held = false;
  }

  /** Always succeeds: a request that was admitted is not refused later. */
  retake(): void {
    if (!this.held) this.places.add(this.owner);
    this.held = true;
  }
}

/**
 * Refuses requests that this process could not answer in time, before anything is looked up or read, so that the
 * admitted ones stay fast.
 */
export class Admission implements OnApplicationShutdown {
  private readonly usual: Places;
  private readonly urgent = new Places(MOST_URGENT, MOST_URGENT_OF_OWNER);
  private readonly delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  private readonly timer: NodeJS.Timeout;
  private part = 1;

  constructor(private readonly rules: AdmissionRules) {
    this.usual = new Places(rules.most, rules.share);
    this.delay.enable();
    this.timer = setInterval(() => {
      this.part = this.delay.mean / 1e6 - RESOLUTION > LATE ? LATE_SHARE : 1;
      this.delay.reset();
    }, LOOK).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.delay.disable();
  }

  /** Requests in progress. */
  get inFlight(): number {
    return this.usual.inFlight + this.urgent.inFlight;
  }

  /** Gives a request its place. @returns whether there is one */
  readonly admit = (request: Admitted, response: ServerResponse): boolean => {
    const owner = this.rules.ownerOf(request);
    const places = this.placesFor(request, owner);
    if (!places) return false;
    places.add(owner);
    const slot = (request.slot = new Slot(places, owner));
    onceClosed(response, () => {
      slot.release();
    });
    return true;
  };

  private placesFor(request: IncomingMessage, owner: string): Places | null {
    if (this.usual.hasRoom(owner, this.part)) return this.usual;
    return this.rules.isUrgent(request) && this.urgent.hasRoom(owner) ? this.urgent : null;
  }
}

/** Releases the place when the response begins: it is complete, or waits for the client between its parts. */
export function releasePlace({ slot }: Admitted): void {
  slot?.release();
}

/** Runs work that waits for the client to send, without holding a place. */
export async function withoutPlace<T>(request: Admitted, work: () => Promise<T>): Promise<T> {
  releasePlace(request);
  try {
    return await work();
  } finally {
    // A request that has ended would never release its place.
    if (!request.socket.destroyed) request.slot?.retake();
  }
}
