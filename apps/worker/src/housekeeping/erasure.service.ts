import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { Erasure } from '@app/erasure';
import { Log } from '@app/logging';

/** People in a round; the next one takes the rest. */
const MOST_PEOPLE = 20;

interface Due {
  organizationId: string;
  personId: string;
  keepResults: boolean;
}

/** Erases people once the days are over in which it could be called off. */
@Injectable()
export class ErasureService {
  constructor(
    private readonly db: Database,
    private readonly erasure: Erasure,
    private readonly log: Log,
  ) {}

  /** Each in a transaction of their own: what fails is tried again in the next round. */
  async runOnce(): Promise<void> {
    const due = await this.db.lookUp<Due>(sql`
      SELECT organization_id AS "organizationId", person_id AS "personId", keep_results AS "keepResults" FROM due_erasures(${MOST_PEOPLE})`);
    for (const { organizationId, ...person } of due) {
      try {
        await this.erasure.erase(organizationId, { userId: null, requestId: 'worker' }, person);
      } catch (error) {
        this.log.failure(error, null, 'person_not_erased');
      }
    }
  }
}
