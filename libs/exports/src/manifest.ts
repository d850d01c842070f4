/** The file of an export that says what the others are. It is written last: a folder without it is no whole export. */
export const MANIFEST = 'manifest.json';

/** The version of the format. An import refuses others. */
export const FORMAT = 1;

export interface ManifestFile {
  /** From the folder, with slashes. */
  path: string;
  bytes: number;
  /** Of its bytes, in hex. */
  sha256: string;
}

export interface ManifestTable extends ManifestFile {
  table: string;
  /** Whether an import reads it. */
  imported: boolean;
  rows: number;
  /** The sum of each column of amounts. */
  sums: Record<string, number>;
}

/** What manifest.json holds. */
export interface Manifest {
  format: typeof FORMAT;
  organization: { id: string; slug: string; name: string };
  /** The time of the snapshot. */
  exported_at: string;
  /** What the addresses of this installation's images begin with. */
  images_url: string;
  tables: ManifestTable[];
  /** Documents and images. */
  files: ManifestFile[];
  /** Paths of documents and images that rows name and the storage no longer has. */
  missing: string[];
}
