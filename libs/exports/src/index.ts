export { type ExportFile, ExportLinks, pathOf } from './export-links.js';
export { CSV, decimalOf } from './csv.js';
export { exportSheets } from './exporting-sheets.js';
export { exportOrganization, type ExportOptions, linesOf } from './exporting.js';
export { Exports, type ExportStatus, type ListedExport } from './exports.js';
export { ExportsModule } from './exports.module.js';
export { FORMAT, type Manifest, MANIFEST, type ManifestFile, type ManifestTable } from './manifest.js';
export { zipFolder } from './zip.js';
