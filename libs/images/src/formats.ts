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
  // 8192 × 6144, as a 50-megapixel phone takes them.
  jpeg: format('JPEG', 'jpg', 50_331_648, 'a progressive or CMYK JPEG', 25_165_824),
  png: format('PNG', 'png', 50_331_648, 'a PNG with 16 bits per channel', 25_165_824),
  webp: format('WebP', 'webp', 25_165_824, 'a lossless or transparent WebP', 10_485_760),
  gif: format('GIF', 'gif', 50_331_648, 'one frame of a GIF', 16_777_216),
  avif: format('AVIF', 'avif', 16_777_216, 'an AVIF that is transparent or deeper than 8 bits', 6_291_456),
};

function format(name: string, extension: string, maxPixels: number, demanding: string, most: number): Format {
  const contentType = `image/${name.toLowerCase()}`;
  return { name, extension, contentType, maxPixels, demanding: { name: demanding, maxPixels: most } };
}

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
