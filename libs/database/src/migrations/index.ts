import type { MigrationInterface } from 'typeorm';
import { Schema } from './1763600000030-schema.js';

/** All migrations, in order. A file that is not listed does not run. */
export const migrations: (new () => MigrationInterface)[] = [Schema];
