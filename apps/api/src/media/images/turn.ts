import { Turns } from '../turns.js';

/** One picture at a time: its memory is many times its file's. */
const turns = new Turns(1);

/** As good as the eye can tell: what is drawn anew was compressed once already. */
const QUALITY = 92;

/**
 * Codes as they come, not counted first: a few per cent more bytes, and not the whole picture's coefficients in memory
 * (217 MB of 343, and more than half of the time, for 38 megapixels).
 */
const LEAN = { optimiseCoding: false };

/**
 * Draws an image upright that its EXIF says to turn, in its own format, with its own colours.
 *
 * @throws Error when it cannot be decoded
 */
export function turn(file: Buffer, mostPixels: number): Promise<Buffer> {
  return turns.run(() => upright(file, mostPixels));
}

async function upright(file: Buffer, mostPixels: number): Promise<Buffer> {
  const sharp = await decoder();
  const image = sharp(file, { limitInputPixels: mostPixels, failOn: 'error' });
  const { format, chromaSubsampling } = await image.metadata();
  const options = format === 'jpeg' ? { ...(chromaSubsampling && { chromaSubsampling }), ...LEAN } : {};
  return image
    .autoOrient()
    .keepIccProfile()
    .toFormat(format, format === 'png' ? {} : { quality: QUALITY, ...options })
    .toBuffer();
}

/** 30 MB that most processes never need: loaded with the first picture on its side. In one thread, and it keeps nothing. */
async function decoder() {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  sharp.concurrency(1);
  return sharp;
}
