import { text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { Database } from '@app/database';
import { objectOf, PrivateStorage } from '@app/storage';

/** Somebody who was erased from an organization. */
export interface ErasedPerson {
  person_id: string;
  /** ISO 8601. */
  erased_at: string;
  keep_results: boolean;
}

const pathOf = (organizationId: string) => `erased/${organizationId}`;

/**
 * Whom each organization has erased: ids and days alone. It lies in the private storage, because a database that is restored knows
 * nothing of what happened since.
 */
@Injectable()
export class ErasedList {
  constructor(
    private readonly db: Database,
    private readonly storage: PrivateStorage,
  ) {}

  async read(organizationId: string): Promise<ErasedPerson[]> {
    const stored = await this.storage.read(pathOf(organizationId));
    const lines = stored ? (await text(stored)).split('\n').filter(Boolean) : [];
    return lines.map((line) => JSON.parse(line) as ErasedPerson);
  }

  /** Adds somebody, inside the ambient transaction: of two at once, one waits. */
  async add(organizationId: string, person: ErasedPerson): Promise<void> {
    await this.db.lock(`erased people of ${organizationId}`);
    const all = [...(await this.read(organizationId)), person];
    const bytes = Buffer.from(all.map((one) => `${JSON.stringify(one)}\n`).join(''));
    await this.storage.put(pathOf(organizationId), objectOf('application/x-ndjson', bytes));
  }
}
