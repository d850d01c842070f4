import { EXIF, orientationOf } from './exif.js';
import { Extent, Malformed, MOST_PARTS, part, type ParsedImage } from './parsed.js';

const EOI = 0xd9;
const SOS = 0xda;
const ICC = Buffer.from('ICC_PROFILE\0', 'latin1');
const JFIF = Buffer.from('JFIF\0', 'latin1');
const ADOBE = Buffer.from('Adobe', 'latin1');

/** Each scan is a pass over the whole picture: real files have a dozen, and thousands keep a decoder busy for minutes. */
const MOST_SCANS = 100;

/** Length of a JFIF segment without the thumbnail that it may hold, marker included. */
const JFIF_LENGTH = 18;

/** ITU T.81, annex B. Segments that decoding needs are kept; of the applications' only those that tell colours. */
export function readJpeg(file: Buffer): ParsedImage {
  if (file.readUInt16BE(0) !== 0xffd8) throw new Malformed('No SOI');
  const pieces = [part(file, 0, 2)];
  const extent = new Extent();
  let orientation = 1;
  let scans = 0;
  for (let at = 2, parts = 0; ; parts++) {
    if (file.readUInt8(at) !== 0xff || parts > MOST_PARTS) throw new Malformed('No marker');
    while (file.readUInt8(at + 1) === 0xff) at++;
    const marker = file.readUInt8(at + 1);
    if (marker === EOI) {
      if (scans === 0) throw new Malformed('No scan');
      // Whatever follows (previews, a film, another file altogether) is not this picture.
      pieces.push(part(file, at, at + 2));
      return { ...extent.largest, frames: 1, orientation, pieces };
    }
    // Restarts and the like belong into scans; what is below C0 is reserved.
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8)) throw new Malformed('A marker out of place');
    const end = marker === SOS ? endOfScan(file, at) : at + 2 + file.readUInt16BE(at + 2);
    const segment = part(file, at, end);
    const content = segment.subarray(4);
    if (isFrame(marker)) extent.add(file.readUInt16BE(at + 7), file.readUInt16BE(at + 5));
    if (marker === SOS && (++scans > MOST_SCANS || extent.width === 0))
      throw new Malformed('Too many scans, or no frame');
    if (marker === 0xe1 && startsWith(content, EXIF)) orientation = orientationOf(content);
    if (marker === 0xe0 && startsWith(content, JFIF)) pieces.push(withoutThumbnail(segment));
    else if (isKept(marker, content)) pieces.push(segment);
    at = end;
  }
}

/** C0 to CF are frame headers, but for DHT, JPG and DAC. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

function isKept(marker: number, content: Buffer): boolean {
  // Frames, tables, scans, and the restart interval: C0 to CF and DA to DF.
  if (marker >= 0xc0 && marker <= 0xdf) return true;
  if (marker === 0xe2) return startsWith(content, ICC);
  return marker === 0xee && startsWith(content, ADOBE);
}

function startsWith(content: Buffer, text: Buffer): boolean {
  return content.subarray(0, text.length).equals(text);
}

function withoutThumbnail(segment: Buffer): Buffer {
  if (segment.length <= JFIF_LENGTH) return segment;
  const short = Buffer.from(segment.subarray(0, JFIF_LENGTH));
  short.writeUInt16BE(JFIF_LENGTH - 2, 2);
  short.writeUInt16BE(0, JFIF_LENGTH - 2);
  return short;
}

/** A scan's data runs until a marker that is neither a stuffed FF nor a restart. */
function endOfScan(file: Buffer, at: number): number {
  let end = at + 2 + file.readUInt16BE(at + 2);
  for (;;) {
    end = file.indexOf(0xff, end);
    if (end < 0) throw new Malformed('A scan without an end');
    const next = file.readUInt8(end + 1);
    if (next === 0 || (next >= 0xd0 && next <= 0xd7)) end += 2;
    else if (next === 0xff) end++;
    else return end;
  }
}
