import { QueueFull } from '@app/concurrency';
import { type EndCause, type ImageFault, ImageProcessEnded, ImageRefused, MAX_FRAMES } from '@app/images';
import { ApiError, Fault, Overloaded, ValidationFailed } from '../../../http/kit.js';

/** Retry-After for failures that are not the client's (s). */
const RETRY_AFTER = 5;

const FULL = new Overloaded(RETRY_AFTER);

/** What is answered when an image is not encoded: 415, 422 or 503. Another error stays as it is. */
export function toApiError(error: unknown): unknown {
  if (error instanceof QueueFull) return FULL;
  if (error instanceof ImageRefused) return refused(error.fault);
  if (!(error instanceof ImageProcessEnded)) return error;
  const fault = OF_IMAGES[error.reason];
  return fault ? invalid(fault) : ApiError.unavailable(RETRY_AFTER);
}

const TOO_COMPLEX = 'The image is too complex to decode. Make it smaller, or save it as a plain JPEG or PNG.';

/** Ends of the process that are the image's fault. */
const OF_IMAGES: Partial<Record<EndCause, string>> = {
  time: TOO_COMPLEX,
  memory: TOO_COMPLEX,
  crash: 'The image cannot be decoded. Save it again and upload the new file.',
};

const REFUSALS = {
  damaged: 'The image is damaged or incomplete. Save it again and upload the new file.',
  too_many_frames: `The animation has more than ${MAX_FRAMES} frames. Make it shorter.`,
};

function refused(fault: ImageFault): ApiError {
  if (fault.refusal === 'unsupported') {
    return new ApiError('unsupported_media_type', 'Send a JPEG, PNG, WebP, GIF or AVIF image.');
  }
  if (fault.refusal !== 'too_many_pixels') return invalid(REFUSALS[fault.refusal]);
  const megapixels = Math.floor(fault.maxPixels / 1e6);
  return invalid(`The image has more than ${megapixels} megapixels, the limit for ${fault.kind}. Make it smaller.`);
}

function invalid(msg: string): ApiError {
  return ValidationFailed.inBody(new Fault('value_error', msg, ['file']));
}
