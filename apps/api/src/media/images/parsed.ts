/** What a format's reader finds. */
export interface ParsedImage {
  /** Of the largest canvas or frame. */
  width: number;
  height: number;
  frames: number;
  /** As EXIF counts: 1 is upright, up to 8. */
  orientation: number;
  /** The file without metadata, in order: parts of it, and what had to be written anew. */
  pieces: Buffer[];
}

/** Reads a whole file. @throws Malformed or RangeError when it is no whole image */
export type ReadImage = (file: Buffer) => ParsedImage;

/** The file is not what its format says. */
export class Malformed extends Error {}

/** Files of an image editor have dozens of parts; thousands are somebody's game with our time. */
export const MOST_PARTS = 100_000;

/** @throws RangeError when the part reaches beyond the end */
export function part(file: Buffer, from: number, to: number): Buffer {
  if (to > file.length || to < from) throw new RangeError('The file ends within a part');
  return file.subarray(from, to);
}

/** Keeps track of the largest extent that a file claims. */
export class Extent {
  width = 0;
  height = 0;

  /** @throws Malformed when there is nothing to see */
  add(width: number, height: number): void {
    if (width === 0 || height === 0) throw new Malformed('An image without extent');
    if (width * height > this.width * this.height) Object.assign(this, { width, height });
  }

  /** @throws Malformed when no extent was told */
  get largest(): { width: number; height: number } {
    if (this.width === 0) throw new Malformed('No extent');
    return { width: this.width, height: this.height };
  }
}
