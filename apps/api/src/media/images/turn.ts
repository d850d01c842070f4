import sharp from 'sharp';
import { Turns } from '../turns.js';

// One picture at a time, in one thread, and nothing kept of it: its memory is many times its file's.
sharp.cache(false);
sharp.concurrency(1);
const turns = new Turns(1);

/** As good as the eye can tell: what is drawn anew was compressed once already. */
const QUALITY = 92;

/**
 * Draws an image upright that its EXIF says to turn, in its own format, with its own colours.
 *
 * @throws Error when it cannot be decoded
 */
export function turn(file: Buffer, mostPixels: number): Promise<Buffer> {
  return turns.run(() => upright(file, mostPixels));
}

async function upright(file: Buffer, mostPixels: number): Promise<Buffer> {
  const image = sharp(file, { limitInputPixels: mostPixels, failOn: 'error' });
  const { format, chromaSubsampling } = await image.metadata();
  const options = format === 'jpeg' && chromaSubsampling ? { chromaSubsampling } : {};
  return image
    .autoOrient()
    .keepIccProfile()
    .toFormat(format, format === 'png' ? {} : { quality: QUALITY, ...options })
    .toBuffer();
}
