import type { MigrationInterface, QueryRunner } from 'typeorm';
import { replaceFunctions } from '../schema/functions.js';
import { TABLES, TRIGGERS_AND_POLICIES } from '../schema/tables.js';

/** Creates the whole schema. */
export class Schema1763600000030 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await replaceFunctions(runner);
    await runner.query(TRIGGERS_AND_POLICIES);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the first migration cannot be reverted'));
  }
}
