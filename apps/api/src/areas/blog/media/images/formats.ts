/** The limits for one format. */
interface Format {
  name: string;
  extension: string;
  contentType: string;
  /** Of all frames together. */
  maxPixels: number;
  /** Limits per frame for variants that need more memory per pixel. */
  demanding: { name: string; maxPixels: number };
}

/** The accepted formats. Every image within these limits can be encoded in 512 MB and 20 seconds: reencode.ts has the measurements. */
export const FORMATS: Record<ImageFormat, Format> = {
  jpeg: {
    name: 'JPEG',
    extension: 'jpg',
    contentType: 'image/jpeg',
    // 8192 × 6144, as a 50-megapixel phone takes them.
    maxPixels: 50_331_648,
    demanding: { name: 'a progressive or CMYK JPEG', maxPixels: 25_165_824 },
  },
  png: {
    name: 'PNG',
    extension: 'png',
    contentType: 'image/png',
    maxPixels: 50_331_648,
    demanding: { name: 'a PNG with 16 bits per channel', maxPixels: 25_165_824 },
  },
  webp: {
    name: 'WebP',
    extension: 'webp',
    contentType: 'image/webp',
    maxPixels: 25_165_824,
    demanding: { name: 'a lossless or transparent WebP', maxPixels: 10_485_760 },
  },
  gif: {
    name: 'GIF',
    extension: 'gif',
    contentType: 'image/gif',
    maxPixels: 50_331_648,
    demanding: { name: 'one frame of a GIF', maxPixels: 16_777_216 },
  },
  avif: {
    name: 'AVIF',
    extension: 'avif',
    contentType: 'image/avif',
    maxPixels: 16_777_216,
    demanding: { name: 'an AVIF that is transparent or deeper than 8 bits', maxPixels: 6_291_456 },
  },
};

/** More frames than any viewer would wait for. */
export const MAX_FRAMES = 200;

export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'avif';

/** The content types of stored files, by extension. */
export const CONTENT_TYPES = new Map<string, string>(
  Object.values(FORMATS).map(({ extension, contentType }) => [extension, contentType]),
);

/** What is wrong with an image. */
export type ImageFault =
  | { refusal: 'unsupported' | 'damaged' | 'too_many_frames' }
  | { refusal: 'too_many_pixels'; maxPixels: number; kind: string };
