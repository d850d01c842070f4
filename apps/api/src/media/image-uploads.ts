import { Injectable } from '@nestjs/common';
import { finished, Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import { Log } from '@app/logging';
import { Storage } from '@app/storage';
import { ApiError } from '../http/errors/api-error.js';
import { hashOf } from '../http/validation/validation.guard.js';
import { type CleanImage, cleanImage } from './images/image.js';
import { type Received, receiveFile } from './multipart.js';
import { storedName } from './stored-name.js';
import { Turns } from './turns.js';

declare module 'express-serve-static-core' {
  interface Request {
    image?: UploadedImage;
  }
}

/**
 * An image that is in the storage already, and belongs to nobody yet. The unit of work that takes it owns it from then on;
 * one that nobody takes (a replay, a refusal) is removed with the end of the request. So nothing that was answered for is
 * ever missing, and only a process that dies in between leaves a file without an owner.
 */
export class UploadedImage {
  private taken = false;
  private over = false;

  constructor(
    readonly id: string,
    readonly path: string,
    readonly url: string,
    readonly size: number,
    private readonly removal: () => Promise<void>,
    private readonly db: Database,
  ) {}

  /** Makes it the ambient unit of work's, unless that fails. */
  take(): void {
    // The client left before its turn came, and the image with it.
    if (this.over) throw new ApiError('bad_request', 'The request ended before its answer.');
    this.taken = true;
    this.db.onRollback(async () => {
      this.taken = false;
      if (this.over) await this.removal();
    });
  }

  /** The request is over. */
  async release(): Promise<void> {
    this.over = true;
    if (!this.taken) await this.removal();
  }
}

/** Receives images and keeps them in the storage. */
@Injectable()
export class ImageUploads {
  /** So many images are in memory at a time, however many arrive: they wait on disk. */
  private readonly turns = new Turns(4);

  constructor(
    private readonly storage: Storage,
    private readonly db: Database,
    private readonly log: Log,
  ) {}

  /**
   * Reads the request's body and leaves the image on the request.
   *
   * @param folder in the storage
   * @throws ApiError 413, 415, 503; ValidationFailed
   */
  async accept(request: Request, response: Response, folder: string): Promise<void> {
    const received = await receiveFile(request, response);
    try {
      request.contentHash = hashOf([request.query, received.name, received.sha256.toString('hex')]);
      const image = await this.turns.run(() => this.store(received, request.id, folder));
      request.image = image;
      finished(response, () => void image.release());
    } finally {
      await received.file.close();
    }
  }

  private async store({ file, name }: Received, requestId: string, folder: string): Promise<UploadedImage> {
    const image = await cleanImage(await file.read());
    const id = uuidv7();
    const path = `${folder}/${id}-${storedName(name, image.extension)}`;
    await this.put(path, image, requestId);
    return new UploadedImage(id, path, this.storage.urlOf(path), sizeOf(image), () => this.remove(path), this.db);
  }

  private async put(path: string, image: CleanImage, requestId: string): Promise<void> {
    try {
      const { contentType, pieces } = image;
      await this.storage.put(path, { contentType, size: sizeOf(image), open: () => Readable.from(pieces) });
    } catch (error) {
      this.log.failure(error, requestId, 'image_not_stored');
      await this.remove(path);
      throw ApiError.unavailable(5);
    }
  }

  /** What cannot be removed stays without an owner: that is worth a line, and no more. */
  private async remove(path: string): Promise<void> {
    try {
      await this.storage.remove(path);
    } catch (error) {
      this.log.failure(error, null, 'image_not_removed');
    }
  }
}

function sizeOf({ pieces }: CleanImage): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
