export { sentenceOf } from './refused-by.js';
export { Rows, type Values } from './rows.js';
export { RowsModule } from './rows.module.js';
export type { Reference, RowTable } from './row-table.js';
