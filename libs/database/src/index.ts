export { Database, type Tenant } from './database.js';
export { DatabaseModule } from './database.module.js';
export { connect, type ConnectionOptions } from './data-source.js';
export { type Counter, recountLists, wrongListCounts } from './list-counts.js';
export { migrate, pendingMigrations, revertLast } from './migrate.js';
export { roleFaults } from './roles.js';
export * from './entities/index.js';
