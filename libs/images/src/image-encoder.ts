import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Turns } from '@app/concurrency';
import { Log } from '@app/logging';
import type { ImageFault, ImageFormat } from './formats.js';
import { type Box, ImageProcess, ImageProcessEnded } from './image-process.js';
import { TemporaryFile } from './temporary-file.js';

/** Nothing waits longer than the slowest image takes (ms). */
const LONGEST_WAIT = 20_000;

/** Starting the process takes about 0.2 s, so it is kept for a while (ms). */
const IDLE = 60_000;

/** It starts at about 72 MB. Above this, the memory kept from earlier images would bring it to its limit too early. */
const MAX_RESTING_BYTES = 96 * 1_048_576;

/** The image is none, or none that we keep. */
export class ImageRefused extends Error {
  constructor(readonly fault: ImageFault) {
    super(`The image was refused: ${fault.refusal}`);
  }
}

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
   * @param box makes a PNG that fits into it
   * @throws ImageRefused, ImageProcessEnded, TemporaryFileError; QueueFull if too many wait
   */
  async encode(file: TemporaryFile, owner: string, gone: AbortSignal, box?: Box): Promise<EncodedImage> {
    gone.throwIfAborted();
    const turn = this.turns.enter(owner);
    const leave = () => {
      turn.end();
    };
    gone.addEventListener('abort', leave);
    try {
      await turn.ready;
      return await this.encodeTwice(file, box);
    } catch (error) {
      if (error instanceof ImageProcessEnded) this.log.failure(error, null, 'image_process_ended');
      throw error;
    } finally {
      gone.removeEventListener('abort', leave);
      turn.end();
    }
  }

  /** The crash may be the process's own fault: try once more in a new one. */
  private async encodeTwice(file: TemporaryFile, box?: Box): Promise<EncodedImage> {
    try {
      return await this.encodeOnce(file, box);
    } catch (error) {
      if (!(error instanceof ImageProcessEnded) || error.reason !== 'crash') throw error;
      this.log.failure(error, null, 'image_process_ended');
      return this.encodeOnce(file, box);
    }
  }

  private async encodeOnce(file: TemporaryFile, box?: Box): Promise<EncodedImage> {
    clearTimeout(this.idle);
    const output = await TemporaryFile.create();
    try {
      if (!this.process?.alive) this.process = await ImageProcess.start();
      const reply = await this.process.reencode(file, output, box);
      if ('refusal' in reply) throw new ImageRefused(reply);
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
