import { Controller, Get, Injectable, Post, StreamableFile } from '@nestjs/common';
import type { Request } from 'express';
import { QueueFull } from '@app/concurrency';
import { Deadline } from '@app/database';
import { type ImageFault, ImageEncoder, ImageProcessEnded, ImageRefused, TemporaryFile } from '@app/images';
import { LOGO_BOX, Logos } from '@app/people';
import { ConfirmIdentity, ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { Fairness } from '../web/fairness.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { wasShownToAnother } from '../web/session.guard.js';
import { MOST_BYTES, readPicture } from './picture-form.js';

const REASONS: Record<ImageFault['refusal'], string> = {
  unsupported: 'Choose a PNG, JPEG, WebP, GIF or AVIF picture.',
  damaged: 'The picture is damaged or incomplete. Save it again, and choose the new file.',
  too_many_frames: 'Choose a picture that does not move.',
  too_many_pixels: 'The picture has too many pixels. Make it smaller.',
};

const TOO_LARGE = `Choose a picture of at most ${MOST_BYTES / 1_048_576} MB.`;
const TOO_COMPLEX = 'The picture cannot be read. Save it as a plain PNG or JPEG, and choose the new file.';

/** How long the database may take (ms). */
const LONGEST = 10_000;

/** Why there is no picture, as the page says it. */
class NoPicture extends Error {}

/** Receives pictures and encodes them anew, as small as papers need them. */
@Injectable()
export class Pictures {
  constructor(
    private readonly encoder: ImageEncoder,
    private readonly fairness: Fairness,
  ) {}

  /** @returns the picture as PNG; null if it is to be taken away @throws NoPicture, PageError */
  receive({ organizationId, request }: Managed): Promise<Buffer | null> {
    return this.fairness.without(async () => {
      const form = await readPicture(request);
      if (!form) throw new NoPicture(TOO_LARGE);
      if (wasShownToAnother(form.fields.person, request.session!)) throw PageError.anotherPerson();
      if (form.fields.remove) return null;
      if (!form.picture) throw new NoPicture('Choose a picture.');
      return this.encode(form.picture, organizationId, request);
    });
  }

  private async encode(picture: Buffer, owner: string, request: Request): Promise<Buffer> {
    const gone = new AbortController();
    request.res!.once('close', () => gone.abort());
    const file = await TemporaryFile.create();
    try {
      await file.append(picture);
      const encoded = await this.encoder.encode(file, owner, gone.signal, LOGO_BOX);
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of encoded.file.chunks()) chunks.push(Buffer.from(chunk));
        return Buffer.concat(chunks);
      } finally {
        await encoded.file.close();
      }
    } catch (error) {
      throw reasonOf(error);
    } finally {
      await file.close();
    }
  }
}

function reasonOf(error: unknown): unknown {
  if (error instanceof ImageRefused) return new NoPicture(REASONS[error.fault.refusal]);
  if (error instanceof QueueFull) return new NoPicture('Others are using pictures just now. Try again in a minute.');
  if (!(error instanceof ImageProcessEnded)) return error;
  const itself = ['time', 'memory', 'crash'].includes(error.reason);
  return new NoPicture(itself ? TOO_COMPLEX : 'The picture could not be read just now. Try again in a minute.');
}

/** The picture that papers begin with. Managers see it, and owners change it. */
@Controller('o/:slug/settings')
@ForManagers()
export class LogoController {
  constructor(
    private readonly logos: Logos,
    private readonly pictures: Pictures,
    private readonly operations: FormOperations,
  ) {}

  @Get('logo')
  @ConfirmIdentity()
  show(@Managing() organization: Managed): Promise<Page> {
    return this.shown(organization);
  }

  @Post('logo')
  @ConfirmIdentity()
  async change(@Managing() organization: Managed): Promise<Page | SeeOther> {
    if (organization.role !== 'owner') throw PageError.notFound();
    const received = await this.pictures.receive(organization).catch((error: unknown) => {
      if (error instanceof NoPicture) return error;
      throw error;
    });
    // The time that a picture takes to arrive and to be encoded does not count.
    return new Deadline(LONGEST).within(() =>
      received instanceof NoPicture ? this.shown(organization, received.message) : this.save(organization, received),
    );
  }

  @Get('logo.png')
  async picture(@Managing() { organizationId }: Managed): Promise<StreamableFile> {
    const png = await this.logos.current(organizationId);
    if (!png) throw PageError.notFound();
    return new StreamableFile(png, { type: 'image/png' });
  }

  private async save(organization: Managed, png: Buffer | null): Promise<SeeOther> {
    const { organizationId, slug, by } = organization;
    const change = () => this.logos.change(organizationId, by, png);
    await this.operations.perform(organization, 'change settings', {}, change, { repeatable: true });
    return seeOther(`/o/${slug}/settings/logo`, 'success', png ? 'The logo was saved.' : 'The logo was taken away.');
  }

  private async shown({ organizationId }: Managed, error: string | null = null): Promise<Page> {
    const data = { has: (await this.logos.current(organizationId)) !== null, error };
    return page('settings/logo', data, error === null ? 200 : 422);
  }
}
