import type { Readable } from 'node:stream';

/** An object to store. It can be read repeatedly, for retries. */
export interface StoredObject {
  contentType: string;
  size: number;
  open: () => Readable;
}

/** The public storage of uploaded files: this machine's disk, or an S3 bucket. */
export abstract class Storage {
  /** Stores the object durably. Replaces an existing one at the same path. */
  abstract put(path: string, object: StoredObject): Promise<void>;

  abstract remove(path: string): Promise<void>;

  /** The public URL of the object. */
  abstract urlOf(path: string): string;

  /** Checks that objects can be stored. @throws Error that says why not */
  abstract check(): Promise<void>;
}
