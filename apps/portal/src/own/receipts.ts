import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { FORMATS } from '@app/images';
import { Log } from '@app/logging';
import { Rows } from '@app/rows';
import { Refused } from '@app/rules';
import { objectOf, PrivateStorage } from '@app/storage';
import { FILES, Uploads } from '@app/teaching';
import type { Received } from '../web/pictures.js';

const NOT_KEPT = 'The photo could not be stored just now. Try again in a minute, or claim without it.';

/** Receipts of tutors, in the private storage. */
@Injectable()
export class Receipts {
  constructor(
    private readonly storage: PrivateStorage,
    private readonly uploads: Uploads,
    private readonly rows: Rows,
    private readonly log: Log,
  ) {}

  /**
   * Stores a photo, and takes it away unless the work needs it.
   *
   * @param work is given what makes the file of it, in the ambient transaction; null if there is no photo
   * @returns what the work returns; null, if it did nothing
   * @throws Refused at `picture` if it cannot be stored
   */
  async keep<T>(
    organizationId: string,
    ownerId: string,
    picture: Received['picture'],
    work: (file: (() => Promise<string>) | null) => Promise<T | null>,
  ): Promise<T | null> {
    if (!picture) return work(null);
    const { bytes, format } = picture;
    const { extension, contentType } = FORMATS[format];
    const upload = { id: uuidv7(), name: `receipt.${extension}`, contentType, size: bytes.length };
    const path = `${organizationId}/${upload.id}`;
    let done: T | null = null;
    try {
      await this.store(path, contentType, bytes);
      done = await work(async () => {
        await this.uploads.add(organizationId, upload);
        return this.rows.add(organizationId, FILES, {
          ...{ title: 'Receipt', scope: 'private', owner_id: ownerId, resource_type: 'file', upload_id: upload.id },
        });
      });
      return done;
    } finally {
      if (done === null) await this.remove(path);
    }
  }

  private async store(path: string, contentType: string, bytes: Buffer): Promise<void> {
    await this.storage.put(path, objectOf(contentType, bytes)).catch((error: unknown) => {
      this.log.failure(error, null, 'file_not_stored');
      throw Refused.invalid(NOT_KEPT, 'picture');
    });
  }

  private remove(path: string): Promise<void> {
    return this.storage.remove(path).catch((error: unknown) => {
      this.log.failure(error, null, 'file_not_removed');
    });
  }
}
