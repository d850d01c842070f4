import { Malformed, MOST_PARTS, part } from './parsed.js';

/** A box of ISO/IEC 14496-12: `size type content`, or a child of one. */
export interface Box {
  type: string;
  /** Of the box, in the file. */
  start: number;
  /** Of its content. */
  from: number;
  to: number;
}

const LARGE_HEADER = 16;

/** The boxes side by side in a range of the file. @throws RangeError when one reaches beyond it */
export function boxesIn(file: Buffer, from: number, to: number): Box[] {
  const boxes: Box[] = [];
  for (let at = from; at < to;) {
    const size32 = file.readUInt32BE(at);
    const size = size32 === 1 ? Number(file.readBigUInt64BE(at + 8)) : size32 === 0 ? to - at : size32;
    const header = size32 === 1 ? LARGE_HEADER : 8;
    if (size < header || boxes.length > MOST_PARTS) throw new Malformed('A box without a sound size');
    if (at + size > to) throw new RangeError('A box ends after what is around it');
    boxes.push({ type: file.toString('latin1', at + 4, at + 8), start: at, from: at + header, to: at + size });
    at += size;
  }
  return boxes;
}

/** Turns a box into free space: its place stays, so that all offsets in the file hold. */
export function clear(file: Buffer, { start, from, to }: Box): void {
  file.write('free', start + 4, 'latin1');
  file.fill(0, from, to);
}

/** Reads numbers one after the other. */
export class Fields {
  constructor(
    private readonly file: Buffer,
    private at: number,
    private readonly to: number,
  ) {}

  get place(): number {
    return this.at;
  }

  /** @param bytes 0 (which reads 0) to 8 */
  next(bytes: number): number {
    const field = part(this.file, this.at, this.at + bytes);
    this.at += bytes;
    if (this.at > this.to) throw new RangeError('A box ends within a field');
    if (bytes === 0) return 0;
    return bytes <= 6 ? field.readUIntBE(0, bytes) : Number(field.readBigUInt64BE(0));
  }

  text(bytes: number): string {
    const text = part(this.file, this.at, this.at + bytes).toString('latin1');
    this.at += bytes;
    return text;
  }
}
