import { Controller, Get, Post, StreamableFile } from '@nestjs/common';
import { Deadline } from '@app/database';
import { LOGO_BOX, Logos } from '@app/people';
import { ConfirmIdentity, ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { NoPicture, Pictures } from '../web/pictures.js';

/** The most of a picture (MB). */
const MOST = 5;

/** How long the database may take (ms). */
const LONGEST = 10_000;

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
    const received = await this.received(organization).catch((error: unknown) => {
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

  /** The picture as PNG; null if it is to be taken away. @throws NoPicture, PageError */
  private async received(organization: Managed): Promise<Buffer | null> {
    const { form, picture } = await this.pictures.receive(organization, MOST, LOGO_BOX);
    if (form.text('remove') !== '') return null;
    if (!picture) throw new NoPicture('Choose a picture.', form);
    return picture.bytes;
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
