import { Process, Processor } from '@nestjs/bull';
import sql from 'sql-template-tag';
import { Database } from '@app/database';

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
      const [row] = await this.db.lookUp<{ made: number }>(sql`SELECT number_events()::integer AS made`);
      numbered += row!.made;
      if (row!.made < MANY) return { numbered };
    }
  }
}
