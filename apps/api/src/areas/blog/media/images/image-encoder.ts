import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { QueueFull, Turns } from '@app/concurrency';
import { Log } from '@app/logging';
import { ApiError, Fault, Overloaded, ValidationFailed } from '../../../../http/kit.js';
import { TemporaryFile } from '../temporary-file.js';
import { type ImageFormat, MAX_FRAMES, type ImageFault } from './formats.js';
import { type EndCause, ImageProcess, ImageProcessEnded } from './image-process.js';

/** Nothing waits longer than the slowest image takes (ms). */
const LONGEST_WAIT = 20_000;

/** Starting the process takes about 0.2 s, so it is kept for a while (ms). */
const IDLE = 60_000;

/** It starts at about 72 MB. Above this, the memory kept from earlier images would bring it to its limit too early. */
const MAX_RESTING_BYTES = 96 * 1_048_576;

/** Retry-After for failures that are not the client's (s). */
const RETRY_AFTER = 5;

const FULL = new Overloaded(RETRY_AFTER);

export interface EncodedImage {
  format: ImageFormat;
  /** The receiver closes it. */
  file: TemporaryFile;
}

/** Re-encodes uploaded images: one at a time in a separate process, taking organizations in turn. */
@Injectable()
export class ImageEncoder implements OnApplicationShutdown {
  private readonly turns = new Turns(1, LONGEST_WAIT);
  private process: ImageProcess | null = null;
  private idle?: NodeJS.Timeout;

  constructor(private readonly log: Log) {}

  onApplicationShutdown(): void {
    this.retire();
  }

  /**
   * @param gone that nobody waits for the image any more
   * @throws ApiError 415, 503; ValidationFailed for an image that is damaged or too much work; TemporaryFileError
   */
  async encode(file: TemporaryFile, owner: string, gone: AbortSignal): Promise<EncodedImage> {
    gone.throwIfAborted();
    const turn = this.turns.enter(owner);
    const leave = () => {
      turn.end();
    };
    gone.addEventListener('abort', leave);
    try {
      await turn.ready;
      return await this.encodeTwice(file);
    } catch (error) {
      if (error instanceof ImageProcessEnded) this.log.failure(error, null, 'image_process_ended');
      throw toApiError(error);
    } finally {
      gone.removeEventListener('abort', leave);
      turn.end();
    }
  }

  /** The crash may be the process's own fault: try once more in a new one. */
  private async encodeTwice(file: TemporaryFile): Promise<EncodedImage> {
    try {
      return await this.encodeOnce(file);
    } catch (error) {
      if (!(error instanceof ImageProcessEnded) || error.reason !== 'crash') throw error;
      this.log.failure(error, null, 'image_process_ended');
      return this.encodeOnce(file);
    }
  }

  private async encodeOnce(file: TemporaryFile): Promise<EncodedImage> {
    clearTimeout(this.idle);
    const output = await TemporaryFile.create();
    try {
      if (!this.process?.alive) this.process = await ImageProcess.start();
      const reply = await this.process.reencode(file, output);
      if ('refusal' in reply) throw refused(reply);
      return { format: reply.format, file: output };
    } catch (error) {
      await output.close();
      throw error;
    } finally {
      await this.rest();
    }
  }

  private async rest(): Promise<void> {
    if (!this.process?.alive || (await this.process.residentBytes()) > MAX_RESTING_BYTES) this.retire();
    this.idle = setTimeout(() => this.retire(), IDLE).unref();
  }

  private retire(): void {
    clearTimeout(this.idle);
    this.process?.kill('killed');
    this.process = null;
  }
}

function toApiError(error: unknown): unknown {
  if (error instanceof QueueFull) return FULL;
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

function refused(reply: ImageFault): ApiError {
  if (reply.refusal === 'unsupported') {
    return new ApiError('unsupported_media_type', 'Send a JPEG, PNG, WebP, GIF or AVIF image.');
  }
  if (reply.refusal !== 'too_many_pixels') return invalid(REFUSALS[reply.refusal]);
  const megapixels = Math.floor(reply.maxPixels / 1e6);
  return invalid(`The image has more than ${megapixels} megapixels, the limit for ${reply.kind}. Make it smaller.`);
}

function invalid(msg: string): ApiError {
  return ValidationFailed.inBody(new Fault('value_error', msg, ['file']));
}
