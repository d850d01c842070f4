import { crc32 } from 'node:zlib';
import { orientationOf } from './exif.js';
import { Extent, Malformed, MOST_PARTS, part, type ParsedImage } from './parsed.js';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Chunks that draw the picture or tell its colours. */
const KEPT = new Set([
  'IHDR', 'PLTE', 'IDAT', 'IEND', 'tRNS', 'cHRM', 'gAMA', 'iCCP', 'sBIT', 'sRGB', 'cICP', 'mDCV', 'cLLI', 'bKGD', 'pHYs',
  'acTL', 'fcTL', 'fdAT',
]); // prettier-ignore

/** https://www.w3.org/TR/png-3/ */
export function readPng(file: Buffer): ParsedImage {
  if (!part(file, 0, 8).equals(SIGNATURE)) throw new Malformed('No signature');
  const pieces = [part(file, 0, 8)];
  const extent = new Extent();
  let orientation = 1;
  let frames = 1;
  let drawn = 0;
  let seen = 0;
  for (let at = 8, parts = 0; ; parts++) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const end = at + 12 + length;
    const chunk = part(file, at, end);
    const data = chunk.subarray(8, 8 + length);
    if (crc32(chunk.subarray(4, 8 + length)) !== chunk.readUInt32BE(8 + length) || parts > MOST_PARTS) {
      throw new Malformed('A damaged chunk');
    }
    if ((type === 'IHDR') !== (parts === 0)) throw new Malformed('IHDR is the first chunk, once');
    if (type === 'IHDR') extent.add(data.readUInt32BE(0), data.readUInt32BE(4));
    if (type === 'IDAT') drawn++;
    if (type === 'acTL') frames = data.readUInt32BE(0);
    if (type === 'fcTL') extent.add(data.readUInt32BE(4), data.readUInt32BE(8));
    if (type === 'fcTL') seen++;
    if (type === 'eXIf') orientation = orientationOf(data);
    if (KEPT.has(type)) pieces.push(chunk);
    // A capital says that the picture cannot be drawn without it.
    else if (/^[A-Z]/.test(type)) throw new Malformed('An unknown critical chunk');
    at = end;
    if (type !== 'IEND') continue;
    if (drawn === 0) throw new Malformed('No picture');
    return { ...extent.largest, frames: Math.max(frames, seen), orientation, pieces };
  }
}
