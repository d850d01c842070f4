export { exportOrganization, type ExportOptions } from './exporting.js';
export { FORMAT, type Manifest, MANIFEST, type ManifestFile, type ManifestTable } from './manifest.js';
