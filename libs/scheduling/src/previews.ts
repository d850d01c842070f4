import { Injectable } from '@nestjs/common';
import { Database } from '@app/database';
import { Bookings, type Quoted } from './bookings.js';
import { type Obstacle, Obstacles } from './obstacles.js';
import type { Timed } from './overlap.js';
import type { ParticipantPrice } from './settling.js';

/** What would be booked, before somebody decides. */
@Injectable()
export class Previews {
  constructor(
    private readonly db: Database,
    private readonly bookings: Bookings,
    private readonly obstacles: Obstacles,
  ) {}

  /** Who would take part, what each would pay, and what stands in the way, in a transaction that writes nothing. @throws Refused like a booking for unknown people */
  look(
    organizationId: string,
    wanted: Quoted,
    times: readonly Timed[],
  ): Promise<{ participants: ParticipantPrice[]; obstacles: Obstacle[] }> {
    return this.db.transaction({ organizationId }, async () => {
      const participants = await this.bookings.quote(organizationId, wanted);
      const studentIds = participants.map(({ studentId }) => studentId);
      return { participants, obstacles: await this.obstacles.of(organizationId, { ...wanted, studentIds, times }) };
    });
  }
}
