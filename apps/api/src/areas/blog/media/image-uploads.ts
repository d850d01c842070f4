import { Injectable, type OnModuleInit } from '@nestjs/common';
import { finished } from 'node:stream';
import type { Request, Response } from 'express';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import { type EncodedImage, FORMATS, ImageEncoder, TemporaryFile, TemporaryFileError } from '@app/images';
import { Log } from '@app/logging';
import { Storage } from '@app/storage';
import {
  ApiError, contentHashOf, endedEarly, type Received, receiveFile, StoredUpload, whileWaiting,
} from '../../../http/kit.js'; // prettier-ignore
import { toApiError } from './image-errors.js';
import { storedName } from './stored-name.js';

declare module 'express-serve-static-core' {
  interface Request {
    image?: UploadedImage;
  }
}

/** 10 MB for the file alone. */
const MOST_IMAGE_BYTES = 10_485_760;

/** An image that has been stored. */
export class UploadedImage extends StoredUpload {
  constructor(
    readonly id: string,
    readonly path: string,
    readonly url: string,
    readonly size: number,
    removal: () => Promise<void>,
    db: Database,
  ) {
    super(removal, db);
  }
}

/** Receives images, re-encodes them and stores them. */
@Injectable()
export class ImageUploads implements OnModuleInit {
  constructor(
    private readonly encoder: ImageEncoder,
    private readonly storage: Storage,
    private readonly db: Database,
    private readonly log: Log,
  ) {}

  async onModuleInit(): Promise<void> {
    await TemporaryFile.removeLeftovers().catch((error: unknown) => this.log.failure(error, null, 'temporary_folder'));
  }

  /** Reads the request's body and sets the image on the request. @throws ApiError 413, 415, 503; ValidationFailed */
  async accept(request: Request, response: Response, folder: string): Promise<void> {
    try {
      // Waiting for the encoder doesn't count towards the deadline: its queue is bounded by itself.
      request.image = await whileWaiting(request, () => this.receive(request, response, folder));
    } catch (error) {
      if (!(error instanceof TemporaryFileError)) throw error;
      this.log.failure(error.cause, request.id, 'temporary_folder');
      throw ApiError.unavailable(5);
    }
  }

  private async receive(request: Request, response: Response, folder: string): Promise<UploadedImage> {
    const owner = request.caller!.organizationId;
    const gone = new AbortController();
    const leave = () => gone.abort(endedEarly());
    // The client may have left already, while its key was looked up: then no event follows.
    if (response.destroyed) leave();
    else response.once('close', leave);
    const received = await receiveFile(request, { most: MOST_IMAGE_BYTES, what: 'image' });
    try {
      request.contentHash = contentHashOf(request.query, received.name, received.sha256.toString('hex'));
      const encoded = await this.encoder.encode(received.file, owner, gone.signal).catch((error: unknown) => {
        throw toApiError(error);
      });
      try {
        gone.signal.throwIfAborted();
        const image = await this.store(encoded, received, request.id, folder);
        // Here already: a request whose client has left gets no turn to go on with.
        finished(response, () => void image.release());
        return image;
      } finally {
        await encoded.file.close();
      }
    } finally {
      await received.file.close();
    }
  }

  private async store(image: EncodedImage, { name }: Received, requestId: string, folder: string) {
    const id = uuidv7();
    const { extension, contentType } = FORMATS[image.format];
    const path = `${folder}/${id}-${storedName(name, extension)}`;
    const { size } = image.file;
    try {
      const { file } = image;
      await this.storage.put(path, { contentType, size, open: () => file.stream(), chunks: () => file.chunks() });
    } catch (error) {
      this.log.failure(error, requestId, 'image_not_stored');
      await this.remove(path);
      throw ApiError.unavailable(5);
    }
    return new UploadedImage(id, path, this.storage.urlOf(path), size, () => this.remove(path), this.db);
  }

  /** A file that cannot be removed is left without an owner and logged. */
  private async remove(path: string): Promise<void> {
    await this.storage.remove(path).catch((error: unknown) => this.log.failure(error, null, 'image_not_removed'));
  }
}
