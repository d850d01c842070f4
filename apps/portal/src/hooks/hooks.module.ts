import { Controller, Get, Module, Post } from '@nestjs/common';
import { hookUrl, PublishingModule } from '@app/publishing';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { HooksService } from './hooks.service.js';

const LONGEST_URL = 2_000;

/** The organization's build hook, which notifies its site when a published post changes. */
@Controller('o/:slug/build-hook')
@ForManagers()
class HooksController {
  constructor(private readonly hooks: HooksService) {}

  @Get()
  @InNavigation({ label: 'Build hook', summary: 'Rebuild your website when a post changes.', order: 50 })
  show(@Managing() organization: Managed): Promise<Page> {
    return this.overview(organization, {});
  }

  @Get('add')
  @ConfirmIdentity()
  async askAdd(@Managing() { organizationId, slug }: Managed): Promise<Page | SeeOther> {
    return (await this.hooks.find(organizationId)) ? seeOther(`/o/${slug}/build-hook`) : page('hooks/add');
  }

  @Post('add')
  @ConfirmIdentity()
  async add(@Managing() organization: Managed): Promise<Page> {
    const { organizationId, by, form } = organization;
    const given = form.text('url');
    let url: string;
    try {
      url = hookUrl(given);
      if (url.length > LONGEST_URL) throw new RangeError(`The address can have at most ${LONGEST_URL} characters.`);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return page('hooks/add', { given, error: error.message }, 422);
    }
    const secret = await this.hooks.add(organizationId, by, url);
    if (secret === null) return this.overview(organization, { again: true }, 422);
    return page('hooks/secret', { title: 'Build hook added', secret, replaced: false });
  }

  @Post('test')
  async test(@Managing() { organizationId, slug, by }: Managed): Promise<SeeOther> {
    await this.hooks.need(organizationId);
    const queued = await this.hooks.test(organizationId, by);
    const list = `/o/${slug}/build-hook`;
    return queued
      ? seeOther(list, 'success', 'The test is on its way. Reload this page in a few seconds to see the result.')
      : seeOther(list, 'notice', 'A test was sent just now. Wait ten seconds before you send another one.');
  }

  @Get('rotate')
  @ConfirmIdentity()
  async confirmRotation(@Managing() { organizationId }: Managed): Promise<Page> {
    return page('hooks/rotate', { hook: await this.hooks.need(organizationId) });
  }

  /** The form identifies the secret to replace, so that sending it again changes nothing. */
  @Post('rotate')
  @ConfirmIdentity()
  async rotate(@Managing() { organizationId, slug, by, form }: Managed): Promise<Page | SeeOther> {
    await this.hooks.need(organizationId);
    const secret = await this.hooks.rotate(organizationId, by, form.text('version'));
    if (secret !== null) return page('hooks/secret', { title: 'Secret replaced', secret, replaced: true });
    const text = 'The secret had already been replaced after you opened the form, so nothing was changed.';
    return seeOther(`/o/${slug}/build-hook`, 'notice', text);
  }

  @Get('remove')
  @ConfirmIdentity()
  async confirmRemoval(@Managing() { organizationId }: Managed): Promise<Page> {
    return page('hooks/remove', { hook: await this.hooks.need(organizationId) });
  }

  @Post('remove')
  @ConfirmIdentity()
  async remove(@Managing() { organizationId, slug, by }: Managed): Promise<SeeOther> {
    await this.hooks.remove(organizationId, by);
    return seeOther(`/o/${slug}/build-hook`, 'success', 'The build hook was removed.');
  }

  private async overview({ organizationId }: Managed, more: object, status = 200): Promise<Page> {
    const [hook, deliveries] = await Promise.all([
      this.hooks.find(organizationId),
      this.hooks.deliveries(organizationId),
    ]);
    return page('hooks/hook', { hook, deliveries, ...more }, status);
  }
}

@Module({ imports: [PublishingModule], controllers: [HooksController], providers: [HooksService] })
export class HooksModule {}
