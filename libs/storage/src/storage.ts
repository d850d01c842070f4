import { Readable } from 'node:stream';

/** An object to store. It can be read repeatedly, for retries. */
export interface StoredObject {
  contentType: string;
  size: number;
  open: () => Readable;
  /** Each piece is there until the next is asked for. */
  chunks: () => AsyncIterable<Buffer>;
}

/** An object that is in memory. */
export function objectOf(contentType: string, bytes: Buffer): StoredObject {
  const open = () => Readable.from([bytes]);
  return { contentType, size: bytes.length, open, chunks: open };
}

/** The first byte and the last one. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Objects by path: on this machine's disk, or in an S3 bucket. */
abstract class ObjectStorage {
  /** Stores the object durably. Replaces an existing one at the same path. */
  abstract put(path: string, object: StoredObject): Promise<void>;

  /** @returns null without such an object */
  abstract read(path: string, range?: ByteRange): Promise<Readable | null>;

  abstract remove(path: string): Promise<void>;

  /** Checks that objects can be stored. @throws Error that says why not */
  abstract check(): Promise<void>;
}

/** Documents of organizations, which only the API hands out. */
export abstract class PrivateStorage extends ObjectStorage {}

/** The public storage of images. */
export abstract class Storage extends ObjectStorage {
  /** The public URL of the object. */
  abstract urlOf(path: string): string;
}
