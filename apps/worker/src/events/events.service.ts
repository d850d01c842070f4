import { Process, Processor } from '@nestjs/bull';
import sql from 'sql-template-tag';
import { Database } from '@app/database';

/** Moves the feed on: gives what has been committed its place in it. */
@Processor('events')
export class EventsService {
  constructor(private readonly db: Database) {}

  @Process('number')
  async runOnce(): Promise<{ numbered: number }> {
    const [row] = await this.db.lookUp<{ numbered: number }>(sql`SELECT number_events()::integer AS numbered`);
    return row!;
  }
}
