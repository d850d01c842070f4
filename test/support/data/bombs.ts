import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { animation, image, type ImageFormat, longGif, pngChunk, withPngChunk, withPngExtent } from './images.js';

const LIMIT = 10_485_760;

/** A small file that is expensive to decode. */
export interface Bomb {
  family: 'giant dimensions' | 'repeated parts' | 'many frames' | 'overlapping parts' | 'dense pictures' | 'truncated';
  what: string;
  format: ImageFormat;
  make: () => Promise<Buffer>;
  /** The allowed statuses; only 422 by default. */
  statuses?: number[];
}

/** Repeats `fill` between `before` and `after`, up to the size limit. */
function filled(before: Buffer, fill: Buffer, after: Buffer): Buffer {
  const times = Math.floor((LIMIT - before.length - after.length) / fill.length);
  return Buffer.concat([before, ...Array<Buffer>(times).fill(fill), after]);
}

/** @returns the start and end of the JPEG's nth segment of this kind, including its data */
function segmentOf(jpeg: Buffer, marker: number, nth = 0): [number, number] {
  let at = 2;
  for (let found = 0; at < jpeg.length;) {
    let end = at + 2 + jpeg.readUInt16BE(at + 2);
    const kind = jpeg[at + 1]!;
    // Entropy-coded data follows a start of scan; in it 0xff is followed by 0.
    if (kind === 0xda) while (!(jpeg[end] === 0xff && jpeg[end + 1] !== 0)) end++;
    if (kind === marker && found++ === nth) return [at, end];
    at = end;
  }
  throw new Error('No such segment');
}

export const flat = (width: number, height: number, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background: { r: 128, g: 96, b: 64, alpha: channels === 4 ? 0.5 : 1 } }, limitInputPixels: false });

/** A large progressive JPEG that repeats one short scan, which touches every block, up to the size limit. */
async function manyScans(): Promise<Buffer> {
  const jpeg = await flat(6_000, 4_000).jpeg({ progressive: true, quality: 50 }).toBuffer();
  const [from, to] = segmentOf(jpeg, 0xda, 1);
  return filled(jpeg.subarray(0, to), jpeg.subarray(from, to), jpeg.subarray(-2));
}

async function manyTables(marker: number): Promise<Buffer> {
  const jpeg = await image('jpeg', { width: 400, height: 300 });
  const [from, to] = segmentOf(jpeg, marker);
  return filled(jpeg.subarray(0, from), jpeg.subarray(from, to), jpeg.subarray(from));
}

async function jpegOfExtent(): Promise<Buffer> {
  const jpeg = await image('jpeg');
  const [at] = segmentOf(jpeg, 0xc0);
  jpeg.writeUInt16BE(65_000, at + 5);
  jpeg.writeUInt16BE(65_000, at + 7);
  return jpeg;
}

/** A PNG with a chunk that decompresses to a gigabyte. */
async function pngText(): Promise<Buffer> {
  const huge = deflateSync(Buffer.alloc(2 ** 30), { level: 9 });
  return withPngChunk(await image('png'), 'zTXt', Buffer.concat([Buffer.from('a\0\0'), huge]));
}

async function pngProfile(): Promise<Buffer> {
  const huge = deflateSync(Buffer.alloc(2 ** 30), { level: 9 });
  return withPngChunk(await image('png'), 'iCCP', Buffer.concat([Buffer.from('a\0\0'), huge]));
}

async function manyChunks(): Promise<Buffer> {
  const png = await image('png');
  return filled(png.subarray(0, 33), pngChunk('tEXt', Buffer.from('a\0b')), png.subarray(33));
}

async function webpOfExtent(): Promise<Buffer> {
  const webp = await flat(64, 48).webp({ lossless: true }).toBuffer();
  // Width and height are 14 bits each, after the signature: both become 16,384.
  webp.writeUInt32LE((webp.readUInt32LE(21) | 0x0fffffff) >>> 0, 21);
  return webp;
}

/** An animated WebP that repeats its frames up to the size limit. */
async function manyWebpFrames(): Promise<Buffer> {
  const webp = await animation('webp', 2);
  const from = webp.indexOf('ANMF');
  const file = filled(webp.subarray(0, from), webp.subarray(from), Buffer.alloc(0));
  file.writeUInt32LE(file.length - 8, 4);
  return file;
}

async function avifOfExtent(): Promise<Buffer> {
  const avif = await image('avif');
  const at = avif.indexOf('ispe') + 8;
  avif.writeUInt32BE(64_250, at);
  avif.writeUInt32BE(64_250, at + 4);
  return avif;
}

function box(type: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4);
  return Buffer.concat([head, body]);
}

/** An AVIF whose picture refers to the same 60 KB 65,535 times: 3.9 GB in all. */
async function overlappingExtents(): Promise<Buffer> {
  const avif = await image('avif', { width: 300, height: 200, noise: true });
  const sizeAt = (at: number) => avif.readUInt32BE(at);
  const meta = sizeAt(0);
  const iloc = avif.indexOf('iloc') - 4;
  const [before, after] = [avif.subarray(meta + 12, iloc), avif.subarray(iloc + sizeAt(iloc), meta + sizeAt(meta))];
  const data = Buffer.alloc(60_000, avif.subarray(avif.indexOf('mdat') + 4));
  const extents = 65_535;
  const locations = Buffer.alloc(16 + extents * 8);
  // Version 0, 4-byte offsets and lengths, no base offset, one item (number 1) in this file.
  locations.set([0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0], 0);
  locations.writeUInt16BE(extents, 12);
  const size = 12 + before.length + (locations.length - 2 + 8) + after.length;
  for (let index = 0; index < extents; index++) {
    locations.writeUInt32BE(meta + size + 8, 14 + index * 8);
    locations.writeUInt32BE(data.length, 18 + index * 8);
  }
  const newMeta = box('meta', Buffer.alloc(4), before, box('iloc', locations.subarray(0, -2)), after);
  return Buffer.concat([avif.subarray(0, meta), newMeta, box('mdat', data)]);
}

/** Frames as large as the canvas. Their colours differ, because encoders merge identical frames. */
function denseGif(frames: number, side: number): Promise<Buffer> {
  return sharp(
    Array.from({ length: frames }, (_, index) => ({
      create: { width: side, height: side, channels: 3, background: { r: index, g: 99, b: 7 } },
    })) as never,
    { join: { animated: true }, limitInputPixels: false },
  )
    .gif({ effort: 1 })
    .toBuffer();
}

const noisyAlpha = async (side: number) => {
  const noise = await image('png', { width: side, height: side, noise: true });
  return sharp(noise).joinChannel(await sharp(noise).extractChannel(0).toBuffer());
};

const half = async (file: Promise<Buffer>) => (await file).subarray(0, Math.floor((await file).length / 2));

/** One bomb for each family and each accepted format that allows it. */
export const BOMBS: Bomb[] = [
  { family: 'giant dimensions', what: '64,250 x 64,250', format: 'png', make: async () => withPngExtent(await image('png'), 64_250, 64_250) },
  { family: 'giant dimensions', what: '65,000 x 65,000', format: 'jpeg', make: jpegOfExtent },
  { family: 'giant dimensions', what: '16,384 x 16,384', format: 'webp', make: webpOfExtent },
  { family: 'giant dimensions', what: 'a frame of 65,535 x 65,535', format: 'gif', make: () => Promise.resolve(gifOfExtent()) },
  { family: 'giant dimensions', what: '64,250 x 64,250', format: 'avif', make: avifOfExtent },
  { family: 'giant dimensions', what: '25 megapixels without loss', format: 'webp', make: () => flat(6_144, 4_096).webp({ lossless: true, quality: 20, effort: 1 }).toBuffer() },
  { family: 'repeated parts', what: 'one scan in 10 MB of scans', format: 'jpeg', make: manyScans },
  { family: 'repeated parts', what: '10 MB of quantization tables', format: 'jpeg', make: () => manyTables(0xdb), statuses: [201, 422] },
  { family: 'repeated parts', what: '10 MB of Huffman tables', format: 'jpeg', make: () => manyTables(0xc4), statuses: [201, 422] },
  { family: 'repeated parts', what: '10 MB of text chunks', format: 'png', make: manyChunks, statuses: [201, 422] },
  { family: 'repeated parts', what: 'a text of 1 GB, compressed', format: 'png', make: pngText, statuses: [201, 422] },
  { family: 'repeated parts', what: 'a profile of 1 GB, compressed', format: 'png', make: pngProfile, statuses: [201, 422] },
  { family: 'many frames', what: '40,000', format: 'gif', make: () => Promise.resolve(longGif(40_000)) },
  { family: 'many frames', what: '400,000', format: 'gif', make: () => Promise.resolve(longGif(400_000)) },
  { family: 'many frames', what: '10 MB of them', format: 'webp', make: manyWebpFrames },
  { family: 'many frames', what: '200 of 600 x 600', format: 'gif', make: () => denseGif(200, 600), statuses: [201, 422] },
  { family: 'overlapping parts', what: '65,535 extents over the same 60 KB', format: 'avif', make: overlappingExtents },
  { family: 'dense pictures', what: 'noise with a noisy alpha channel', format: 'webp', make: async () => (await noisyAlpha(3_072)).webp({ quality: 10, alphaQuality: 10, effort: 0 }).toBuffer(), statuses: [201] },
  { family: 'dense pictures', what: 'noise with a noisy alpha channel', format: 'avif', make: async () => (await noisyAlpha(2_500)).avif({ quality: 10, effort: 0 }).toBuffer(), statuses: [201] },
  { family: 'dense pictures', what: 'lossless noise', format: 'webp', make: () => image('png', { width: 1_800, height: 1_800, noise: true }).then((png) => sharp(png).webp({ lossless: true, effort: 0 }).toBuffer()), statuses: [201, 422] },
  { family: 'dense pictures', what: '10 megapixels without loss, transparent', format: 'webp', make: () => flat(4_096, 2_560, 4).webp({ lossless: true, quality: 20, effort: 1 }).toBuffer(), statuses: [201] },
  { family: 'dense pictures', what: '25 megapixels', format: 'webp', make: () => flat(6_144, 4_096).webp({ effort: 0 }).toBuffer(), statuses: [201] },
  { family: 'dense pictures', what: '16 megapixels', format: 'avif', make: () => flat(4_096, 4_096).avif({ effort: 0 }).toBuffer(), statuses: [201] },
  { family: 'dense pictures', what: '6 megapixels of 10 bits, transparent', format: 'avif', make: () => flat(3_072, 2_048, 4).avif({ effort: 0, bitdepth: 10 }).toBuffer(), statuses: [201] },
  { family: 'dense pictures', what: '16 megapixels', format: 'gif', make: () => flat(4_096, 4_096).gif({ effort: 1 }).toBuffer(), statuses: [201] },
  { family: 'dense pictures', what: '25 megapixels of 16 bits, transparent, interlaced, on its side', format: 'png', make: async () => sharp(await flat(6_144, 4_096, 4).png().toBuffer()).toColourspace('rgb16').withMetadata({ orientation: 6 }).png({ progressive: true }).toBuffer(), statuses: [201] },
  { family: 'dense pictures', what: '50 megapixels, interlaced', format: 'png', make: () => flat(8_192, 6_144).png({ progressive: true }).toBuffer(), statuses: [201] },
  { family: 'dense pictures', what: '25 megapixels, progressive, on its side', format: 'jpeg', make: () => flat(6_144, 4_096).withMetadata({ orientation: 6 }).jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer(), statuses: [201] },
  ...(['jpeg', 'png', 'webp', 'gif', 'avif'] as const).map((format): Bomb => ({ family: 'truncated', what: 'half of a large picture', format, make: () => half(flat(3_000, 2_000).composite([{ input: { create: { width: 999, height: 999, channels: 3, background: 'red', noise: { type: 'gaussian', mean: 128, sigma: 30 } } } }]).toFormat(format).toBuffer()) })),
]; // prettier-ignore

function gifOfExtent(): Buffer {
  const gif = longGif(1);
  gif.writeUInt16LE(65_535, gif.indexOf(0x2c) + 5);
  gif.writeUInt16LE(65_535, gif.indexOf(0x2c) + 7);
  return gif;
}
