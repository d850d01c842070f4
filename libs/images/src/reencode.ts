import { fileTypeFromBuffer } from 'file-type';
import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp';
import { FORMATS, type ImageFormat, MAX_FRAMES, type ImageFault } from './formats.js';
import type { Box } from './image-process.js';

// One thread and no cache, so that memory holds one image at a time.
sharp.concurrency(1);
sharp.cache(false);
// Allow only these five of libvips's loaders, and only from memory.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map((loader) => `VipsForeignLoad${loader}Buffer`),
});

/** By the MIME type that file-type reports. `image/heif` may be an AVIF with a generic major brand: sharp decides. */
const BY_CONTENT: Partial<Record<string, ImageFormat>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/apng': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'image/heif': 'avif',
};

/** Profiles of cameras and screens take 0.5 to 4 KB. Printers' are larger; such an image is converted to sRGB. */
const MAX_PROFILE_BYTES = 65_536;

/** Above this, or half of it with transparency, AVIF halves the resolution of its colours: 4:4:4 takes 35 bytes a pixel instead of 23. */
const MAX_FULL_CHROMA_PIXELS = 8_388_608;

/**
 * Decodes an image and encodes it again: upright, same format, with its colour profile and no other metadata.
 *
 * @param box makes a PNG of 256 colours on white that fits into it, of the first frame
 */
export async function reencode(file: Buffer, box?: Box): Promise<{ format: ImageFormat; data: Buffer } | ImageFault> {
  const format = await formatOf(file);
  if (!format) return { refusal: 'unsupported' };
  try {
    const options: SharpOptions = {
      // Every frame of a GIF or WebP; of an AVIF the one that its file calls the primary one.
      animated: (format === 'gif' || format === 'webp') && !box,
      // Truncated images are refused; minor irregularities are tolerated.
      failOn: 'error',
    };
    // Read without sharp's own limit, whose error looks like that of a damaged file.
    const metadata = await sharp(file, { ...options, limitInputPixels: false }).metadata();
    if (format === 'avif' && metadata.compression !== 'av1') return { refusal: 'unsupported' };
    // From the header, before any pixel is decoded. The height of an animation is that of all frames.
    if ((metadata.pages ?? 1) > MAX_FRAMES && format !== 'avif') return { refusal: 'too_many_frames' };
    const refusal = tooManyPixels(format, metadata, file);
    if (refusal) return refusal;
    const image = sharp(file, { ...options, limitInputPixels: FORMATS[format].maxPixels });
    if (box) return { format: 'png', data: await shrink(image, box) };
    return { format, data: await encode(image, format, metadata, file) };
  } catch {
    return { refusal: 'damaged' };
  }
}

function tooManyPixels(format: ImageFormat, metadata: Metadata, file: Buffer): ImageFault | undefined {
  const { name, maxPixels, demanding } = FORMATS[format];
  const { width, height, pageHeight = height } = metadata;
  if (width * height > maxPixels) return { refusal: 'too_many_pixels', maxPixels, kind: name };
  if (width * pageHeight > demanding.maxPixels && isDemanding(format, metadata, file))
    return { refusal: 'too_many_pixels', maxPixels: demanding.maxPixels, kind: demanding.name };
  return undefined;
}

function isDemanding(format: ImageFormat, metadata: Metadata, file: Buffer): boolean {
  const { isProgressive, space, depth, bitsPerSample = 8, hasAlpha } = metadata;
  return {
    jpeg: isProgressive || space === 'cmyk',
    png: depth === 'ushort',
    webp: hasAlpha || (format === 'webp' && isLossless(file)),
    gif: true,
    avif: hasAlpha || bitsPerSample > 8,
  }[format];
}

async function formatOf(file: Buffer): Promise<ImageFormat | undefined> {
  try {
    return BY_CONTENT[(await fileTypeFromBuffer(file))?.mime ?? ''];
  } catch {
    // The file ends before its type is known.
    return undefined;
  }
}

/**
 * The settings and their measured costs: PSNR and SSIM of four photographs of 0.14 to 0.37 megapixels (second encoding
 * compared with the first), CPU seconds, and the peak memory of the process, which takes about 70 MB at rest.
 *
 *   JPEG  92, 4:4:4          45 to 48 dB, 0.997   50 MP: 0.9 s, 233 MB on its side; progressive 1.7 s, 511 MB
 *   PNG   adaptive filters   exact, 0.7 of the size without them; 50 MP RGBA 1.6 s, 454 MB interlaced on its side;
 *                            16 bits, 25 MP so too 461 MB
 *   WebP  90, effort 2       41 to 42 dB, 0.991   25 MP: 2.8 s, 386 MB; 12.6 MP with noise as alpha 2.4 s, 386 MB
 *   WebP  lossless           exact; 33 bytes a pixel (12.6 MP with alpha: 479 MB); 3.2 MP of noise 0.5 s, at
 *                            quality 75 (effort) 1.6 s
 *   GIF   effort 4           exact; 15 bytes a pixel of a frame (25 MP: 457 MB); 50 MP in 200 frames 6 s
 *   AVIF  75, effort 0       39 to 42 dB, 0.989, 1.6 of the size; effort 1 at 65: 37 to 39 dB, 0.982, twice the time.
 *                            16.8 MP 3 s, 470 MB; 8.4 MP of 10 bits with alpha 488 MB
 */
function encode(image: Sharp, format: ImageFormat, metadata: Metadata, file: Buffer): Promise<Buffer> {
  const { icc, space, width, height, chromaSubsampling, pages = 1 } = metadata;
  // Viewers ignore the orientation of an animation.
  if (pages === 1) image.autoOrient();
  if (icc && icc.length <= MAX_PROFILE_BYTES) image.keepIccProfile();
  // Otherwise grey becomes three channels, and 16 bits become 8.
  if (space === 'b-w' || space === 'grey16' || space === 'rgb16') image.toColourspace(space);
  switch (format) {
    case 'jpeg':
      image.jpeg({
        quality: 92,
        chromaSubsampling: chromaSubsampling === '4:2:0' ? '4:2:0' : '4:4:4',
        // Optimal codes need the coefficients of the whole picture in memory.
        optimiseCoding: false,
      });
      break;
    case 'png':
      // Filters make photographs smaller, and pictures with a palette larger.
      image.png({ adaptiveFiltering: !metadata.isPalette });
      break;
    case 'webp':
      image.webp(isLossless(file) ? { lossless: true, quality: 20, effort: 1 } : { quality: 90, effort: 2 });
      break;
    case 'gif':
      // Each frame already has a palette; with its own palette again it keeps its colours exactly (from effort 4 on).
      image.gif({ effort: 4, dither: 0, reuse: false, interPaletteMaxError: 0, keepDuplicateFrames: true });
      break;
    case 'avif': {
      const most = MAX_FULL_CHROMA_PIXELS / (metadata.hasAlpha ? 2 : 1);
      image.avif({ quality: 75, effort: 0, chromaSubsampling: width * height > most ? '4:2:0' : '4:4:4' });
    }
  }
  return image.toBuffer();
}

function shrink(image: Sharp, box: Box): Promise<Buffer> {
  return image
    .autoOrient()
    .resize({ ...box, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: 'white' })
    .toColourspace('srgb')
    .png({ palette: true })
    .toBuffer();
}

/** Whether a WebP is lossless, which sharp does not report. For an animation, the first frame decides. */
function isLossless(file: Buffer): boolean {
  for (let at = 12; at + 8 <= file.length;) {
    const chunk = file.toString('latin1', at, at + 4);
    if (chunk === 'VP8 ' || chunk === 'VP8L') return chunk === 'VP8L';
    const size = file.readUInt32LE(at + 4);
    // A frame of an animation holds chunks after 16 bytes of its own.
    at += chunk === 'ANMF' ? 24 : 8 + size + (size % 2);
  }
  return false;
}
