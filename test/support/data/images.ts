import { crc32 } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';

export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'avif';

/** `quality` is the minimum PSNR (dB) after re-encoding a picture with hard edges. */
export const FORMATS: { format: ImageFormat; extension: string; type: string; quality: number }[] = [
  { format: 'jpeg', extension: 'jpg', type: 'image/jpeg', quality: 37 },
  { format: 'png', extension: 'png', type: 'image/png', quality: Infinity },
  { format: 'webp', extension: 'webp', type: 'image/webp', quality: 35 },
  { format: 'gif', extension: 'gif', type: 'image/gif', quality: Infinity },
  { format: 'avif', extension: 'avif', type: 'image/avif', quality: 40 },
];

/** Metadata that stored images must not contain. */
export const SECRETS = ['SECRET-CAMERA', 'SECRET-XMP', 'GPSLatitude', 'Exif'];

const XMP = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"
  dc:creator="SECRET-XMP"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`;

interface Wish {
  width?: number;
  height?: number;
  /** Incompressible pixels: the file is about as large as its pixels. */
  noise?: boolean;
}

function draw({ width = 64, height = 48, noise = false }: Wish): Sharp {
  if (noise) {
    return sharp({ create: { width, height, channels: 3, background: 'white', noise: { type: 'gaussian', mean: 128, sigma: 60 } } }); // prettier-ignore
  }
  // Left and right differ, and so do top and bottom: every rotation is visible.
  const half = { create: { width: Math.ceil(width / 2), height, channels: 3 as const, background: '#c03020' } };
  const corner = { create: { width: Math.ceil(width / 4), height: Math.ceil(height / 4), channels: 3 as const, background: '#2040c0' } }; // prettier-ignore
  return sharp({ create: { width, height, channels: 3, background: '#30a050' } }).composite([
    { input: half, left: 0, top: 0 },
    { input: corner, left: 0, top: 0 },
  ]);
}

export function image(format: ImageFormat, wish: Wish = {}): Promise<Buffer> {
  return draw(wish).toFormat(format).toBuffer();
}

/** An image whose metadata names a camera, a location and an XMP creator. A GIF has no metadata. */
export async function photo(format: ImageFormat, orientation = 1, wish: Wish = {}): Promise<Buffer> {
  return draw(wish)
    .withMetadata({ orientation })
    .withExifMerge({
      IFD0: { Make: 'SECRET-CAMERA', Copyright: 'SECRET-CAMERA' },
      IFD3: { GPSLatitudeRef: 'S', GPSLatitude: '37/1 48/1 49/1', GPSLongitudeRef: 'E', GPSLongitude: '144/1 57/1 47/1' },
    })
    .withXmp(XMP)
    .toFormat(format)
    .toBuffer();
}

/** An animation whose frames have different colours. */
export async function animation(format: 'gif' | 'webp', frames: number, size = 8): Promise<Buffer> {
  const pages = await Promise.all(
    Array.from({ length: frames }, (_, index) => {
      const background = { r: (index * 37) % 256, g: (index * 101) % 256, b: index % 256 };
      return sharp({ create: { width: size, height: size, channels: 3, background } })
        .png()
        .toBuffer();
    }),
  );
  return sharp(pages, { join: { animated: true } })
    .toFormat(format, { loop: 3, delay: 50 })
    .toBuffer();
}

/** A GIF of identical frames, assembled by hand because that is fast for any number. */
export function longGif(frames: number): Buffer {
  const head = Buffer.from('47494638396101000100800000ffffff000000', 'hex');
  const control = Buffer.from('21f9040005000000', 'hex');
  const picture = Buffer.from('2c0000000001000100000202440100', 'hex');
  return Buffer.concat([head, ...Array.from({ length: frames }, () => [control, picture]).flat(), Buffer.from([0x3b])]);
}

/** A PNG chunk. */
export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/** Inserts a chunk after the PNG's header. */
export function withPngChunk(png: Buffer, type: string, data: Buffer): Buffer {
  return Buffer.concat([png.subarray(0, 33), pngChunk(type, data), png.subarray(33)]);
}

/** Changes the PNG header's width and height, from which decoders size their memory. The checksum stays valid. */
export function withPngExtent(png: Buffer, width: number, height: number): Buffer {
  const header = Buffer.from(png.subarray(16, 29));
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([png.subarray(0, 8), pngChunk('IHDR', header), png.subarray(33)]);
}

/** Pads the JPEG with comments to an exact length. */
export function jpegOfSize(jpeg: Buffer, size: number): Buffer {
  const segments: Buffer[] = [];
  for (let left = size - jpeg.length; left > 0;) {
    // What is left must be zero or fit another comment, which takes at least four bytes.
    const length = left > 60_000 ? 50_000 : left;
    const comment = Buffer.alloc(length, 0x20);
    comment.writeUInt16BE(0xfffe, 0);
    comment.writeUInt16BE(length - 2, 2);
    segments.push(comment);
    left -= length;
  }
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

/** PSNR of two pictures (dB). Differences are invisible above 40; identical pixels give Infinity. */
export async function psnr(one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = [await pixels(one), await pixels(other)];
  if (a.length !== b.length) return 0;
  let squares = 0;
  for (let index = 0; index < a.length; index++) squares += (a[index]! - b[index]!) ** 2;
  return 10 * Math.log10(255 ** 2 / (squares / a.length));
}

/** The decoded pixels. */
export async function pixels(file: Buffer): Promise<Buffer> {
  return sharp(file, { animated: true }).toColourspace('srgb').removeAlpha().raw().toBuffer();
}
