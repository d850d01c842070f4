export { DATA, DERIVED_COLUMNS, HISTORY, LEFT_OUT, STATE_COLUMNS } from './contents.js';
export { exportOrganization, type ExportOptions } from './exporting.js';
export { FORMAT, type Manifest, MANIFEST, type ManifestFile, type ManifestTable } from './manifest.js';
export { sourcesOf } from './statements.js';
