import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { type Actor, AuditLog } from '@app/audit';
import { Env, Vault } from '@app/config';
import { Database } from '@app/database';
import { Refused } from '@app/rules';
import { PrivateStorage } from '@app/storage';
import { ErasedList } from './erased-list.js';

/** Who is erased, and how. */
export interface Wanted {
  personId: string;
  /** Results stay, as those of nobody. */
  keepResults: boolean;
}

/** What an erasure did, or would do. */
export interface Erased {
  kind: 'student' | 'tutor' | 'parent';
  /** Whether the login went, too: no other organization is tied to it. */
  gone: boolean;
  /** Rows that went, and rows that name nobody any more, by table. */
  erased: Record<string, number>;
  changed: Record<string, number>;
  /** Documents that went. */
  documents: string[];
}

interface Told extends Erased {
  addresses: string[];
  words: string[];
}

interface Sealed {
  kind: 'mail' | 'sent' | 'answer';
  place: string;
  texts: Buffer[];
}

/** Forgets a person in an organization: see ERASING for what becomes of each column. */
@Injectable()
export class Erasure {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly vault: Vault,
    private readonly audit: AuditLog,
    private readonly storage: PrivateStorage,
    private readonly list: ErasedList,
  ) {}

  /**
   * Erases somebody whose membership has ended, in a transaction of its own. First the documents and the entry of the list, then the commit: whatever
   * fails is done again.
   * @throws Refused for nobody of the organization, for somebody who still belongs (`invalid_state`), and for one whom an owner holds
   */
  erase(organizationId: string, by: Actor, wanted: Wanted): Promise<Erased> {
    return this.db.transaction({ organizationId }, async () => {
      const alias = randomUUID();
      const erased = await this.forget(organizationId, wanted, alias);
      for (const id of erased.documents) await this.storage.remove(`${organizationId}/${id}`);
      await this.list.add(organizationId, {
        person_id: wanted.personId,
        erased_at: new Date().toISOString(),
        keep_results: wanted.keepResults,
      });
      const details = { user_id: alias, gone: erased.gone, documents: erased.documents.length };
      await this.audit.add(organizationId, by, 'erase person', details);
      return erased;
    });
  }

  /** What {@link erase} would do, and does not. */
  async preview(organizationId: string, wanted: Wanted): Promise<Erased> {
    try {
      return await this.db.transaction({ organizationId }, async () => {
        throw new Rehearsed(await this.forget(organizationId, wanted, randomUUID()));
      });
    } catch (error) {
      if (error instanceof Rehearsed) return error.told;
      throw error;
    }
  }

  private async forget(organizationId: string, wanted: Wanted, alias: string): Promise<Told> {
    const { personId, keepResults } = wanted;
    const [row] = await this.db.query<{ told: Told | { refused: keyof typeof REFUSED | 'unknown' } }>(sql`
      SELECT erase_person(${organizationId}, ${personId}, ${alias}, ${keepResults}, ${this.env.get('TAX_YEARS')}) AS told`);
    const { told } = row!;
    if ('refused' in told) {
      if (told.refused === 'unknown') throw Refused.notFound();
      throw Refused.conflict(told.refused, REFUSED[told.refused]);
    }
    await this.forgetSealed(organizationId, [personId, ...told.addresses, ...told.words]);
    return told;
  }

  /** Mails and stored answers are encrypted: whom they tell of shows only here. */
  private async forgetSealed(organizationId: string, words: string[]): Promise<void> {
    const wanted = words.map((word) => word.toLowerCase());
    const sealed = await this.db.query<Sealed>(sql`
      SELECT kind, place, texts FROM sealed_texts(${organizationId})`);
    for (const { kind, place, texts } of sealed) {
      const opened = texts.map((text) => this.open(kind, text));
      if (!opened.some((text) => wanted.some((word) => text.toLowerCase().includes(word)))) continue;
      // A program that repeats its request still learns that it was done.
      const answer = kind === 'answer' ? { ...(JSON.parse(opened[0]!) as object), body: '', others: {} } : null;
      const emptied = answer && this.vault.seal('idempotent answers', JSON.stringify(answer));
      await this.db.query(sql`SELECT empty_sealed(${organizationId}, ${kind}, ${place}, ${emptied})`);
    }
  }

  /** What another key has sealed tells nobody anything. */
  private open(kind: Sealed['kind'], sealed: Buffer): string {
    try {
      return this.vault.open(kind === 'answer' ? 'idempotent answers' : 'outbox payloads', sealed);
    } catch {
      return '';
    }
  }
}

const REFUSED = {
  still_belongs: 'Only somebody whose membership has ended can be erased.',
  held: 'An owner holds this person’s data.',
};

/** Ends a transaction that was only to show what it would do. */
class Rehearsed extends Error {
  constructor(readonly told: Told) {
    super('rehearsed');
  }
}
