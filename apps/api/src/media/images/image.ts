import { fileTypeFromBuffer } from 'file-type';
import { ApiError, ValidationFailed } from '../../http/errors/api-error.js';
import { readAvif } from './avif.js';
import { readGif } from './gif.js';
import { readJpeg } from './jpeg.js';
import { Malformed, type ReadImage } from './parsed.js';
import { readPng } from './png.js';
import { turn } from './turn.js';
import { readWebp } from './webp.js';

/** What an image may be at most: a camera's, or a short animation. More costs every viewer's memory. */
const MOST_PIXELS = 40_000_000;
const MOST_FRAMES = 200;

interface Format {
  extension: string;
  contentType: string;
  read: ReadImage;
}

const PNG: Format = { extension: 'png', contentType: 'image/png', read: readPng };

/** By what the content says it is. An animated PNG is a PNG. */
const FORMATS: Partial<Record<string, Format>> = {
  'image/jpeg': { extension: 'jpg', contentType: 'image/jpeg', read: readJpeg },
  'image/png': PNG,
  'image/apng': PNG,
  'image/webp': { extension: 'webp', contentType: 'image/webp', read: readWebp },
  'image/gif': { extension: 'gif', contentType: 'image/gif', read: readGif },
  'image/avif': { extension: 'avif', contentType: 'image/avif', read: readAvif },
};

/** The content types of what is stored, by extension. */
export const CONTENT_TYPES = new Map(
  Object.values(FORMATS).map((format) => [format!.extension, format!.contentType] as const),
);

/** An image that may be shown: what it is by its content, and its bytes without anything that is not the picture. */
export interface CleanImage {
  extension: string;
  contentType: string;
  /** In order; they are parts of the file that was read. */
  pieces: Buffer[];
}

/**
 * Looks at an uploaded file without decoding it: what it is, whether it is whole and within bounds. What cameras and
 * editors leave in it (places, names, thumbnails, comments) is taken out, the picture stays bit for bit; only one that is
 * stored lying on its side is drawn anew.
 *
 * @throws ApiError 415 for any other content; ValidationFailed for one that is broken or too large
 */
export async function cleanImage(file: Buffer): Promise<CleanImage> {
  const format = FORMATS[await typeOf(file)];
  if (!format) throw new ApiError('unsupported_media_type', 'Send a JPEG, PNG, WebP, GIF or AVIF image.');
  const { extension, contentType, read } = format;
  const { width, height, frames, orientation, pieces } = readWhole(read, file);
  if (width * height > MOST_PIXELS)
    throw refused(`The image is over ${MOST_PIXELS / 1e6} megapixels. Make it smaller.`);
  if (frames > MOST_FRAMES) throw refused(`The animation has over ${MOST_FRAMES} frames. Make it shorter.`);
  if (orientation === 1 || frames > 1) return { extension, contentType, pieces };
  const turned = await turn(file, MOST_PIXELS).catch(() => {
    throw refused('The image cannot be decoded. Save it anew and send that.');
  });
  return { extension, contentType, pieces: readWhole(read, turned).pieces };
}

async function typeOf(file: Buffer): Promise<string> {
  try {
    return (await fileTypeFromBuffer(file))?.mime ?? '';
  } catch {
    // It begins like something and ends before it is.
    return '';
  }
}

function readWhole(read: ReadImage, file: Buffer): ReturnType<ReadImage> {
  try {
    return read(file);
  } catch (error) {
    // Reading beyond the end of a buffer is a RangeError: the file ends before the image does.
    if (error instanceof Malformed || error instanceof RangeError) {
      throw refused('The image is damaged or ends too early. Save it anew and send that.');
    }
    throw error;
  }
}

function refused(msg: string): ValidationFailed {
  return new ValidationFailed([{ loc: ['body', 'file'], msg, type: 'value_error' }]);
}
