import { createHash } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { replaceFunctions } from '../schema/functions.js';
import { TABLES, TRIGGERS_AND_POLICIES } from '../schema/areas.js';

/** Of the statements, whatever their comments and spacing. */
const digest = createHash('sha256')
  .update((TABLES + TRIGGERS_AND_POLICIES).replace(/--.*$/gm, '').replace(/\s+/g, ' '))
  .digest('hex')
  .slice(0, 8);

/** Creates the whole schema. Until the first release its files, and with them the name, change in place: other databases are refused. */
export class Schema implements MigrationInterface {
  static readonly name = `Schema_${digest}_1763600000030`;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await replaceFunctions(runner);
    await runner.query(TRIGGERS_AND_POLICIES);
  }

  /** Never called: see revertLast. */
  down(): Promise<void> {
    return Promise.reject(new Error('the first migration cannot be reverted'));
  }
}
