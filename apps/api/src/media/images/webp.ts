import { orientationOf } from './exif.js';
import { Extent, Malformed, MOST_PARTS, part, type ParsedImage } from './parsed.js';

/** Bits of VP8X that announce EXIF and XMP. */
const METADATA = 0x0c;
const FRAME_HEADER = 16;

interface Chunk {
  type: string;
  data: Buffer;
  /** With its header and padding. */
  whole: Buffer;
}

/** https://developers.google.com/speed/webp/docs/riff_container */
export function readWebp(file: Buffer): ParsedImage {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WEBP') {
    throw new Malformed('No signature');
  }
  const extent = new Extent();
  const pieces: Buffer[] = [];
  let orientation = 1;
  let frames = 0;
  for (const chunk of chunksOf(part(file, 12, 8 + file.readUInt32LE(4)))) {
    const { type, data, whole } = chunk;
    if (type === 'EXIF') orientation = orientationOf(data);
    if (type === 'VP8X') {
      extent.add(data.readUIntLE(4, 3) + 1, data.readUIntLE(7, 3) + 1);
      const plain = Buffer.from(whole);
      plain.writeUInt8(data.readUInt8(0) & ~METADATA, 8);
      pieces.push(plain);
    } else if (type === 'ANMF') {
      extent.add(data.readUIntLE(6, 3) + 1, data.readUIntLE(9, 3) + 1);
      pieces.push(...frameOf(data, extent));
      frames++;
    } else if (isPicture(chunk, extent)) {
      pieces.push(whole);
      frames++;
    } else if (['ALPH', 'ANIM', 'ICCP'].includes(type)) {
      pieces.push(whole);
    }
  }
  if (frames === 0) throw new Malformed('No picture');
  return { ...extent.largest, frames, orientation, pieces: [header('RIFF', 4 + sizeOf(pieces), 'WEBP'), ...pieces] };
}

function* chunksOf(body: Buffer): Generator<Chunk> {
  for (let at = 0, parts = 0; at < body.length; parts++) {
    const size = body.readUInt32LE(at + 4);
    const end = at + 8 + size + (size % 2);
    if (parts > MOST_PARTS) throw new Malformed('Too many chunks');
    const whole = part(body, at, end);
    yield { type: body.toString('latin1', at, at + 4), data: whole.subarray(8, 8 + size), whole };
    at = end;
  }
}

/** An animation's frame, without what is not its picture. */
function frameOf(data: Buffer, extent: Extent): Buffer[] {
  const kept: Buffer[] = [];
  let pictures = 0;
  for (const chunk of chunksOf(data.subarray(FRAME_HEADER))) {
    const picture = isPicture(chunk, extent);
    if (picture) pictures++;
    if (picture || chunk.type === 'ALPH') kept.push(chunk.whole);
  }
  if (pictures !== 1) throw new Malformed('A frame is one picture');
  return [header('ANMF', FRAME_HEADER + sizeOf(kept)), part(data, 0, FRAME_HEADER), ...kept];
}

/** Adds the extent that the bitstream itself tells: https://www.rfc-editor.org/rfc/rfc6386#section-9.1 and RFC 9649. */
function isPicture({ type, data }: Chunk, extent: Extent): boolean {
  if (type === 'VP8 ') {
    if (data.readUIntBE(3, 3) !== 0x9d012a) throw new Malformed('No key frame');
    extent.add(data.readUInt16LE(6) & 0x3fff, data.readUInt16LE(8) & 0x3fff);
    return true;
  }
  if (type !== 'VP8L') return false;
  if (data.readUInt8(0) !== 0x2f) throw new Malformed('No signature of VP8L');
  const bits = data.readUInt32LE(1);
  extent.add((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
  return true;
}

function header(type: string, size: number, more = ''): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${more}`, 'latin1');
  bytes.writeUInt32LE(size, 4);
  return bytes;
}

function sizeOf(pieces: Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
