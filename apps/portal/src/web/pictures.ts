import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { QueueFull, Turns } from '@app/concurrency';
import { type Box, type ImageFault, type ImageFormat, ImageEncoder, ImageProcessEnded, ImageRefused, TemporaryFile } from '@app/images'; // prettier-ignore
import type { Managed } from './access.decorators.js';
import { Fairness } from './fairness.js';
import { Form } from './form.js';
import { PageError } from './page-error.js';
import { readPicture } from './picture-form.js';
import { wasShownToAnother } from './session.guard.js';

const BYTES_PER_MB = 1_048_576;

/** Forms with pictures that are in memory at once, and how long one waits for its turn (ms). */
const MOST_AT_ONCE = 8;
const LONGEST_WAIT = 20_000;

const REASONS: Record<ImageFault['refusal'], string> = {
  unsupported: 'Choose a PNG, JPEG, WebP, GIF or AVIF picture.',
  damaged: 'The picture is damaged or incomplete. Save it again, and choose the new file.',
  too_many_frames: 'Choose a picture that does not move.',
  too_many_pixels: 'The picture has too many pixels. Make it smaller.',
};

const BUSY = 'Others are using pictures just now. Try again in a minute.';
const TOO_COMPLEX = 'The picture cannot be read. Save it as a plain PNG or JPEG, and choose the new file.';

/** Why there is no picture, as the page says it. */
export class NoPicture extends Error {
  /** @param form null if it was too large to be read */
  constructor(
    message: string,
    readonly form: Form | null,
  ) {
    super(message);
  }
}

/** A form, with the picture in it, encoded anew; null if none was chosen. */
export interface Received {
  form: Form;
  picture: { bytes: Buffer; format: ImageFormat } | null;
}

/** Receives pictures and encodes them anew: upright, and without the place where they were taken. */
@Injectable()
export class Pictures {
  private readonly turns = new Turns(MOST_AT_ONCE, LONGEST_WAIT);

  constructor(
    private readonly encoder: ImageEncoder,
    private readonly fairness: Fairness,
  ) {}

  /** @param megabytes the most that a picture may have @param box makes a PNG that fits into it @throws NoPicture, PageError */
  async receive({ organizationId, request }: Managed, megabytes: number, box?: Box): Promise<Received> {
    const receive = async (): Promise<Received> => {
      const sent = await readPicture(request, megabytes * BYTES_PER_MB);
      if (!sent) throw new NoPicture(`Choose a picture of at most ${megabytes} MB.`, null);
      if (wasShownToAnother(sent.fields.person, request.session!)) throw PageError.anotherPerson();
      const form = new Form(sent.fields);
      if (!sent.picture) return { form, picture: null };
      try {
        return { form, picture: await this.encode(sent.picture, organizationId, request, box) };
      } catch (error) {
        const reason = reasonOf(error);
        throw reason === null ? error : new NoPicture(reason, form);
      }
    };
    return this.fairness.without(() => this.inTurn(organizationId, receive));
  }

  private async inTurn<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const turn = this.turns.enter(owner);
    try {
      await turn.ready;
    } catch {
      throw new NoPicture(BUSY, null);
    }
    return work().finally(() => turn.end());
  }

  private async encode(picture: Buffer, owner: string, request: Request, box?: Box) {
    const gone = new AbortController();
    request.res!.once('close', () => gone.abort());
    const file = await TemporaryFile.create();
    try {
      await file.append(picture);
      const encoded = await this.encoder.encode(file, owner, gone.signal, box);
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of encoded.file.chunks()) chunks.push(Buffer.from(chunk));
        return { bytes: Buffer.concat(chunks), format: encoded.format };
      } finally {
        await encoded.file.close();
      }
    } finally {
      await file.close();
    }
  }
}

/** What the page says; null for what is no fault of the picture. */
function reasonOf(error: unknown): string | null {
  if (error instanceof ImageRefused) return REASONS[error.fault.refusal];
  if (error instanceof QueueFull) return BUSY;
  if (!(error instanceof ImageProcessEnded)) return null;
  const itself = ['time', 'memory', 'crash'].includes(error.reason);
  return itself ? TOO_COMPLEX : 'The picture could not be read just now. Try again in a minute.';
}
