export { Database, type Tenant } from './database.js';
export { DatabaseModule } from './database.module.js';
export { connect, type ConnectionOptions } from './data-source.js';
export { type Counter, recountLists, wrongListCounts } from './list-counts.js';
export { migrate, pendingMigrations, revertLast } from './migrate.js';
export { FUNCTION_GRANTS, type ProcessRole, rightsOf, ROLE_SETTINGS, TABLE_GRANTS } from './grants.js';
export { type ProcessUrls, roleFaults } from './roles.js';
export { isStorable } from './storable.js';
export * from './entities/index.js';
