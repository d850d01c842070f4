/** As large as a picture of a 50-megapixel phone: 8192 × 6144. An animation may have as many in all frames together. */
const MAX_PIXELS = 50_331_648;

/**
 * Encoders of these hold the picture several times over. 6144 × 4096 take 370 MB of the process's 512 as WebP, 4096 × 4096
 * take 445 MB as AVIF.
 */
const MAX_WEBP_PIXELS = 25_165_824;
const MAX_AVIF_PIXELS = 16_777_216;

/** No reader waits for more. */
export const MAX_FRAMES = 200;

/** What is accepted and stored. */
export const FORMATS = {
  jpeg: { name: 'JPEG', extension: 'jpg', contentType: 'image/jpeg', maxPixels: MAX_PIXELS },
  png: { name: 'PNG', extension: 'png', contentType: 'image/png', maxPixels: MAX_PIXELS },
  webp: { name: 'WebP', extension: 'webp', contentType: 'image/webp', maxPixels: MAX_WEBP_PIXELS },
  gif: { name: 'GIF', extension: 'gif', contentType: 'image/gif', maxPixels: MAX_PIXELS },
  avif: { name: 'AVIF', extension: 'avif', contentType: 'image/avif', maxPixels: MAX_AVIF_PIXELS },
} as const;

export type ImageFormat = keyof typeof FORMATS;

/** The content types of what is stored, by extension. */
export const CONTENT_TYPES = new Map<string, string>(
  Object.values(FORMATS).map(({ extension, contentType }) => [extension, contentType]),
);

/** What is wrong with an image. */
export type Refusal =
  { refusal: 'unsupported' | 'damaged' | 'too_many_frames' } | { refusal: 'too_many_pixels'; format: ImageFormat };
