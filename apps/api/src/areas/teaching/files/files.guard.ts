import { finished } from 'node:stream';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import { TemporaryFileError } from '@app/images';
import { Log } from '@app/logging';
import { PrivateStorage } from '@app/storage';
import type { NewUpload } from '@app/teaching';
import { ApiError, contentHashOf, type Received, receiveFile, StoredUpload, whileWaiting } from '../../../http/kit.js';
import { documentOf } from '../documents.js';

declare module 'express-serve-static-core' {
  interface Request {
    document?: { upload: NewUpload; stored: StoredUpload };
  }
}

/** 25 MB for the file alone. */
export const MOST_DOCUMENT_BYTES = 26_214_400;

/** Receives and stores a document after everything else has been checked. A temporary file holds it, so memory does not. */
@Injectable()
export class FilesGuard implements CanActivate {
  constructor(
    private readonly storage: PrivateStorage,
    private readonly db: Database,
    private readonly log: Log,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    try {
      await whileWaiting(request, async () => {
        const received = await receiveFile(request, { most: MOST_DOCUMENT_BYTES, what: 'file' });
        try {
          await this.store(request, response, received);
        } finally {
          await received.file.close();
        }
      });
    } catch (error) {
      if (!(error instanceof TemporaryFileError)) throw error;
      this.log.failure(error.cause, request.id, 'temporary_folder');
      throw ApiError.unavailable(5);
    }
    return true;
  }

  private async store(request: Request, response: Response, { file, name, sha256 }: Received): Promise<void> {
    const document = await documentOf(file, name);
    request.contentHash = contentHashOf(request.query, name, sha256.toString('hex'));
    const upload = { ...document, id: uuidv7(), size: file.size };
    const path = `${request.caller!.organizationId}/${upload.id}`;
    const remove = () =>
      this.storage.remove(path).catch((error: unknown) => {
        this.log.failure(error, null, 'file_not_removed');
      });
    const object = {
      contentType: upload.contentType,
      size: upload.size,
      open: () => file.stream(),
      chunks: () => file.chunks(),
    };
    try {
      await this.storage.put(path, object);
    } catch (error) {
      this.log.failure(error, request.id, 'file_not_stored');
      await remove();
      throw ApiError.unavailable(5);
    }
    const stored = new StoredUpload(remove, this.db);
    request.document = { upload, stored };
    // A request whose client has left gets no turn to go on with, and no such event either.
    if (response.destroyed) await stored.release();
    else finished(response, () => void stored.release());
  }
}
