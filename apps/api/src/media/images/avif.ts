import { type Box, boxesIn, clear, Fields } from './boxes.js';
import { isAv1 } from './obus.js';
import { Extent, Malformed, part, type ParsedImage } from './parsed.js';

/** Items that make up the picture. Every other one (EXIF, XMP, previews in other formats) is emptied. */
const PICTURES = new Set(['av01', 'grid', 'iovl', 'iden', 'tmap']);

/** Top-level boxes that are kept; the others become free space. */
const KEPT = new Set(['ftyp', 'meta', 'mdat', 'moov', 'free']);

/** What an image sequence's tracks are made of. Everything else in them is free space. */
const TRACK_BOXES = new Set(['tkhd', 'edts', 'tref', 'mdia', 'elst', 'mdhd', 'hdlr', 'minf', 'vmhd', 'dinf', 'stbl']);

/** A picture of the largest size has some hundred tiles. */
const MOST_PLACES = 2_000;

interface Location {
  item: number;
  /** In the file. */
  from: number;
  to: number;
}

/** https://aomediacodec.github.io/av1-avif/: offsets are absolute, so metadata is emptied where it is. */
export function readAvif(original: Buffer): ParsedImage {
  const file = Buffer.from(original);
  const extent = new Extent();
  let frames = 1;
  const pictures: Location[] = [];
  const boxes = boxesIn(file, 0, file.length);
  for (const box of boxes) {
    if (!KEPT.has(box.type)) clear(file, box);
    if (box.type === 'free') file.fill(0, box.from, box.to);
    if (box.type === 'meta') pictures.push(...readMeta(file, box, extent));
    if (box.type === 'moov') frames = Math.max(frames, readMovie(file, box, extent));
  }
  if (pictures.length === 0) throw new Malformed('No picture');
  // Data that belongs to nothing may be metadata whose entry is damaged. The frames of a sequence have no items.
  if (!boxes.some(({ type }) => type === 'moov'))
    for (const box of boxes) if (box.type === 'mdat') clearAround(file, box, pictures);
  return { ...extent.largest, frames, orientation: 1, pieces: [file] };
}

/** @returns where the pictures are */
function readMeta(file: Buffer, meta: Box, extent: Extent): Location[] {
  const children = boxesIn(file, meta.from + 4, meta.to);
  const child = (type: string) => children.find((box) => box.type === type);
  const [information, locations, properties] = [child('iinf'), child('iloc'), child('iprp')];
  if (!information || !locations || !properties) throw new Malformed('No items');
  for (const box of children) {
    if (!['hdlr', 'pitm', 'iloc', 'iinf', 'iprp', 'iref', 'idat', 'grpl', 'dinf'].includes(box.type)) clear(file, box);
  }
  for (const box of boxesIn(file, properties.from, properties.to)) {
    if (box.type === 'ipco') readProperties(file, box, extent);
  }
  const items = itemsOf(file, information);
  if (new Set(items.map(({ id }) => id)).size < items.length) throw new Malformed('Two items of one id');
  const pictures = new Set(items.filter(({ type }) => PICTURES.has(type)).map(({ id }) => id));
  const places = locationsOf(file, locations, child('idat'));
  const ours = places.filter(({ item }) => pictures.has(item));
  const data = [...boxesIn(file, 0, file.length), ...children].filter(({ type }) => /^(mdat|idat|free)$/.test(type));
  for (const { item, from, to } of places) {
    if (pictures.has(item)) continue;
    // An offset is only a number: what it points at must not be part of the picture, or of the structure.
    if (ours.some((other) => other.from < to && from < other.to)) throw new Malformed('Items that share bytes');
    if (!data.some((box) => box.from <= from && to <= box.to)) throw new Malformed('An item outside of the data');
    file.fill(0, from, to);
  }
  const bitstreams = new Map<number, Buffer[]>();
  for (const { item, from, to } of ours)
    bitstreams.set(item, [...(bitstreams.get(item) ?? []), file.subarray(from, to)]);
  for (const { id, type } of items) {
    // One that reaches too far would take along what follows it.
    if (type === 'av01' && !isAv1(Buffer.concat(bitstreams.get(id) ?? []))) throw new Malformed('No AV1, or more');
  }
  return ours;
}

/** Empties what is in a box but in none of the places. */
function clearAround(file: Buffer, { from, to }: Box, places: Location[]): void {
  let at = from;
  for (const place of [...places].sort((a, b) => a.from - b.from)) {
    if (place.to <= at || place.from >= to) continue;
    file.fill(0, at, Math.max(at, place.from));
    at = Math.min(to, place.to);
  }
  file.fill(0, at, to);
}

function readProperties(file: Buffer, container: Box, extent: Extent): void {
  for (const { type, from, to } of boxesIn(file, container.from, container.to)) {
    const fields = new Fields(file, from + 4, to);
    if (type === 'ispe') extent.add(fields.next(4), fields.next(4));
    // Names that people give to things.
    if (type === 'udes') clear(file, { type, start: from - 8, from, to });
  }
}

/** Items, by what they say they are; those that are no picture lose their names on the way. */
function itemsOf(file: Buffer, { from, to }: Box): { id: number; type: string }[] {
  const fields = new Fields(file, from, to);
  const version = fields.next(4) >>> 24;
  fields.next(version === 0 ? 2 : 4);
  return boxesIn(file, fields.place, to).map((box) => {
    const entry = new Fields(file, box.from, box.to);
    const entryVersion = entry.next(4) >>> 24;
    if (box.type !== 'infe' || entryVersion < 2) throw new Malformed('An item without a type');
    const id = entry.next(entryVersion === 2 ? 2 : 4);
    entry.next(2);
    const typeAt = entry.place;
    const type = entry.text(4);
    // An item of a type that nobody knows is passed over.
    if (!PICTURES.has(type)) file.write('free', typeAt, 'latin1');
    file.fill(0, typeAt + 4, box.to);
    return { id, type };
  });
}

function locationsOf(file: Buffer, { from, to }: Box, idat: Box | undefined): Location[] {
  const fields = new Fields(file, from, to);
  const version = fields.next(4) >>> 24;
  if (version > 2) throw new Malformed('An unknown version');
  const sizes = fields.next(2);
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15];
  const indexSize = version === 0 ? 0 : sizes & 15;
  const wide = version === 2 ? 4 : 2;
  const places: Location[] = [];
  const seen = new Set<number>();
  for (let left = fields.next(wide); left > 0; left--) {
    const item = fields.next(wide);
    if (seen.has(item)) throw new Malformed('An item in two places');
    seen.add(item);
    const method = version === 0 ? 0 : fields.next(2) & 15;
    if (method > 1 || (method === 1 && !idat)) throw new Malformed('Items made of items');
    fields.next(2);
    const base = fields.next(baseSize) + (method === 1 ? idat!.from : 0);
    for (let extents = fields.next(2); extents > 0; extents--) {
      fields.next(indexSize);
      const start = base + fields.next(offsetSize);
      const length = fields.next(lengthSize);
      if (length === 0 || places.length > MOST_PLACES) throw new Malformed('An item without a length');
      part(file, start, start + length);
      places.push({ item, from: start, to: start + length });
    }
  }
  return places;
}

/** An image sequence. @returns the frames of its longest track */
function readMovie(file: Buffer, movie: Box, extent: Extent): number {
  let frames = 1;
  for (const box of boxesIn(file, movie.from, movie.to)) {
    if (box.type === 'trak') frames = Math.max(frames, readTrack(file, box, extent));
    else if (box.type !== 'mvhd') clear(file, box);
  }
  return frames;
}

function readTrack(file: Buffer, track: Box, extent: Extent): number {
  let frames = 1;
  for (const box of boxesIn(file, track.from, track.to)) {
    const { type, from, to } = box;
    const fields = new Fields(file, from + 4, to);
    if (type === 'stsz') {
      fields.next(4);
      frames = Math.max(frames, fields.next(4));
    } else if (type === 'stsd') {
      fields.next(4);
      readSampleEntries(file, boxesIn(file, fields.place, to), extent);
    } else if (['mdia', 'minf', 'stbl'].includes(type)) {
      frames = Math.max(frames, readTrack(file, box, extent));
    } else if (!TRACK_BOXES.has(type) && !/^(st|ct|co|sb|sg|cs)/.test(type)) {
      clear(file, box);
    }
  }
  return frames;
}

function readSampleEntries(file: Buffer, entries: Box[], extent: Extent): void {
  for (const { type, from, to } of entries) {
    if (type !== 'av01') throw new Malformed('A track that is no picture');
    const fields = new Fields(file, from + 24, to);
    extent.add(fields.next(2), fields.next(2));
  }
}
