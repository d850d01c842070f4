import { Process, Processor } from '@nestjs/bull';
import { Database } from '@app/database';
import { numberEvents } from '@app/events';

/** So many events in one portion mean that more may wait. */
const MANY = 500;

/** Moves the feed on: gives what has been committed its place in it. */
@Processor('events')
export class EventsService {
  constructor(private readonly db: Database) {}

  @Process('number')
  async runOnce(): Promise<{ numbered: number }> {
    let numbered = 0;
    for (;;) {
      const made = await numberEvents(this.db);
      numbered += made;
      if (made < MANY) return { numbered };
    }
  }
}
