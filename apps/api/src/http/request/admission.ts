import type { IncomingMessage, ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Request } from 'express';
import { Env } from '@app/config';
import type { Deadline } from '@app/database';
import { Overloaded } from '../errors/api-error.js';
import { Metrics } from '../metrics/metrics.js';
import { pathOf } from './early-refusals.js';
import { onceClosed } from './once-closed.js';

declare module 'express-serve-static-core' {
  interface Request {
    deadline: Deadline;
    slot?: Slot;
  }
}

/** A request, with its place once it has been admitted. */
type Admitted = IncomingMessage & { slot?: Slot };

const URGENT = new Set(['/v1/ping', '/health/live', '/health/ready', '/metrics']);
const MOST_URGENT = 64;
const MOST_URGENT_OF_KEY = 16;

/** By what others judge whether the service works: cheap, and admitted when nothing else is. */
export function isUrgent(request: IncomingMessage): boolean {
  return URGENT.has(pathOf(request));
}

/** A process whose event loop is this late on average (ms) admits a quarter of the usual until it has caught up. */
const LATE = 100;
const LATE_SHARE = 1 / 4;
/** How often that is looked at, and the precision of the measurement (ms). A single pause to collect garbage is not enough. */
const LOOK = 500;
const RESOLUTION = 20;

const REFUSAL = new Overloaded(1);

/** Places for requests, of which one key has a share at most. Whether the key exists nobody has asked yet. */
class Places {
  private taken = 0;
  private readonly byKey = new Map<string, number>();

  constructor(
    private readonly most: number,
    private readonly share: number,
  ) {}

  /** @param part of the places that are to be had */
  hasRoom(key: string, part = 1): boolean {
    return this.taken < this.most * part && (this.byKey.get(key) ?? 0) < this.share * part;
  }

  add(key: string): void {
    this.taken++;
    this.byKey.set(key, (this.byKey.get(key) ?? 0) + 1);
  }

  leave(key: string): void {
    this.taken--;
    const own = this.byKey.get(key)! - 1;
    if (own > 0) this.byKey.set(key, own);
    else this.byKey.delete(key);
  }

  get inFlight(): number {
    return this.taken;
  }
}

/** The place of one request. It is given up while the client is waited for: a slow one must not keep others out. */
class Slot {
  private held = true;

  constructor(
    private readonly places: Places,
    private readonly key: string,
  ) {}

  release(): void {
    if (this.held) this.places.leave(this.key);
    this.held = false;
  }

  /** Who was admitted once is not refused any more. */
  retake(): void {
    if (!this.held) this.places.add(this.key);
    this.held = true;
  }
}

/**
 * What is more than this process can answer in time is refused at once, before anything is looked up or read, so that those
 * who are admitted are answered as fast as ever.
 */
@Injectable()
export class Admission implements OnApplicationShutdown {
  private readonly usual: Places;
  private readonly urgent = new Places(MOST_URGENT, MOST_URGENT_OF_KEY);
  private readonly delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  private readonly timer: NodeJS.Timeout;
  private part = 1;

  constructor(
    env: Env,
    private readonly metrics: Metrics,
  ) {
    const most = env.get('MAX_REQUESTS_IN_FLIGHT');
    this.usual = new Places(most, Math.ceil(most / 2));
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

  /** Requests that are being answered. */
  get inFlight(): number {
    return this.usual.inFlight + this.urgent.inFlight;
  }

  /** Gives a request its place; the refusal if there is none. */
  readonly refusal = (request: Admitted, response: ServerResponse): Overloaded | null => {
    const key = request.headers.authorization ?? '';
    const places = this.placesFor(request, key);
    if (!places) return this.overloaded();
    places.add(key);
    const slot = (request.slot = new Slot(places, key));
    onceClosed(response, () => {
      slot.release();
    });
    return null;
  };

  /** The refusal of a request that is too much. */
  overloaded(): Overloaded {
    this.metrics.refused.inc();
    return REFUSAL;
  }

  private placesFor(request: IncomingMessage, key: string): Places | null {
    if (this.usual.hasRoom(key, this.part)) return this.usual;
    return isUrgent(request) && this.urgent.hasRoom(key) ? this.urgent : null;
  }
}

/** An answer that begins is ready, or waits for its client between its parts: its place is free. */
export function releasePlace({ slot }: Admitted): void {
  slot?.release();
}

/** Runs what waits for the client to send. Its time is not ours: neither a place nor the deadline is used up meanwhile. */
export async function whileClientSends<T>(request: Request, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  releasePlace(request);
  try {
    return await work();
  } finally {
    // The place of a request that is over would never be given back.
    if (!request.socket.destroyed) request.slot?.retake();
    request.deadline.extend(performance.now() - began);
  }
}
