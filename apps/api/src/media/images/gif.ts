import { Extent, Malformed, MOST_PARTS, part, type ParsedImage } from './parsed.js';

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const GRAPHIC_CONTROL = 0xf9;
const APPLICATION = 0xff;

/** The applications whose extension says how often an animation repeats. */
const LOOPING = ['NETSCAPE2.0', 'ANIMEXTS1.0'];

/** https://www.w3.org/Graphics/GIF/spec-gif89a.txt: comments, XMP and plain text go. */
export function readGif(file: Buffer): ParsedImage {
  if (!/^GIF8[79]a$/.test(file.toString('latin1', 0, 6))) throw new Malformed('No signature');
  const extent = new Extent();
  const canvas = [file.readUInt16LE(6), file.readUInt16LE(8)] as const;
  extent.add(...canvas);
  let at = 13 + colorTable(file.readUInt8(10));
  const pieces = [part(file, 0, at)];
  let frames = 0;
  for (let parts = 0; ; parts++) {
    const start = at;
    const kind = file.readUInt8(at);
    if (parts > MOST_PARTS) throw new Malformed('Too many blocks');
    if (kind === TRAILER) {
      if (frames === 0) throw new Malformed('No picture');
      pieces.push(part(file, at, at + 1));
      return { ...extent.largest, frames, orientation: 1, pieces };
    }
    if (kind === EXTENSION) {
      const label = file.readUInt8(at + 1);
      at = endOfBlocks(file, at + 2);
      const loops = label === APPLICATION && LOOPING.includes(file.toString('latin1', start + 3, start + 14));
      if (label === GRAPHIC_CONTROL || loops) pieces.push(part(file, start, at));
    } else if (kind === IMAGE) {
      extent.add(file.readUInt16LE(at + 5), file.readUInt16LE(at + 7));
      // The descriptor, its colours, the size of the codes, the data.
      at = endOfBlocks(file, at + 10 + colorTable(file.readUInt8(at + 9)) + 1);
      pieces.push(part(file, start, at));
      frames++;
    } else {
      throw new Malformed('An unknown block');
    }
  }
}

/** Bytes of the colour table that a packed field announces. */
function colorTable(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0;
}

function endOfBlocks(file: Buffer, at: number): number {
  for (let length = file.readUInt8(at); length > 0; length = file.readUInt8(at)) at += 1 + length;
  return at + 1;
}
