import type { Readable } from 'node:stream';

/** Something to keep. It can be read more than once: a try that failed may be repeated. */
export interface StoredObject {
  contentType: string;
  size: number;
  open: () => Readable;
}

/** Where uploaded files are kept for everybody to see: this machine's disk, or an S3 bucket. */
export abstract class Storage {
  /** Keeps the object; when this resolves it is there to stay. Once more at the same path replaces it. */
  abstract put(path: string, object: StoredObject): Promise<void>;

  /** What is not there is fine. */
  abstract remove(path: string): Promise<void>;

  /** The address where everybody finds the object. */
  abstract urlOf(path: string): string;

  /** Whether objects could be kept right now. @throws Error that says why not */
  abstract check(): Promise<void>;
}
