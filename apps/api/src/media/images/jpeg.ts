import { EXIF, orientationOf } from './exif.js';
import { Extent, Malformed, MOST_PARTS, part, type ParsedImage } from './parsed.js';

const DHT = 0xc4;
const DAC = 0xcc;
const EOI = 0xd9;
const SOS = 0xda;
const DQT = 0xdb;
const DNL = 0xdc;
const DRI = 0xdd;
const ICC = Buffer.from('ICC_PROFILE\0', 'latin1');
const JFIF = Buffer.from('JFIF\0', 'latin1');
const ADOBE = Buffer.from('Adobe', 'latin1');

/** Each scan is a pass over the whole picture: real files have a dozen, and thousands keep a decoder busy for minutes. */
const MOST_SCANS = 100;

/** Of the content: the name, a version, flags, the transform of colours. */
const ADOBE_LENGTH = 12;

/** Length of a JFIF segment without the thumbnail that it may hold, marker included. */
const JFIF_LENGTH = 18;

/**
 * ITU T.81, annex B. Segments that decoding needs are kept, if they are what they say (metadata whose marker is damaged is
 * not); of the applications' only those that tell colours.
 */
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
    const fixed = marker === SOS ? file.readUInt16BE(at + 2) - 2 : content.length;
    if (marker < 0xe0 && !isSound(marker, content.subarray(0, fixed))) throw new Malformed('A segment of another kind');
    if (marker === 0xe1 && startsWith(content, EXIF)) orientation = orientationOf(content);
    if (marker === 0xe0 && startsWith(content, JFIF)) pieces.push(withoutThumbnail(segment));
    else if (isKept(marker, content)) pieces.push(segment);
    at = end;
  }
}

/** C0 to CF are frame headers, but for DHT, JPG and DAC. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![DHT, 0xc8, DAC].includes(marker);
}

/** Whether a frame, a table, the head of a scan or an interval has the form of one. */
function isSound(marker: number, content: Buffer): boolean {
  if (isFrame(marker)) return content.length === 6 + 3 * content.readUInt8(5);
  if (marker === SOS) return content.length === 4 + 2 * content.readUInt8(0);
  if (marker === DRI || marker === DNL) return content.length === 2;
  if (marker === DHT) return isTables(content, (table) => 17 + sum(part(table, 1, 17)));
  if (marker === DQT) return isTables(content, (table) => 1 + 64 * (1 + (table.readUInt8(0) >> 4)));
  return marker === DAC && isTables(content, () => 2);
}

/** Tables side by side, each of which begins with its class (0 or 1) and its place (0 to 3). */
function isTables(content: Buffer, lengthOf: (table: Buffer) => number): boolean {
  let at = 0;
  while (at < content.length) {
    if ((content.readUInt8(at) & 0xec) !== 0) return false;
    at += lengthOf(content.subarray(at));
  }
  return at === content.length;
}

function sum(bytes: Buffer): number {
  return bytes.reduce((total, byte) => total + byte, 0);
}

function isKept(marker: number, content: Buffer): boolean {
  // Frames, tables, scans, and the restart interval: C0 to CF and DA to DF.
  if (marker >= 0xc0 && marker <= 0xdf) return true;
  if (marker === 0xe2) return startsWith(content, ICC);
  return marker === 0xee && content.length === ADOBE_LENGTH && startsWith(content, ADOBE);
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
