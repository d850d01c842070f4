import { Controller, Get, Post } from '@nestjs/common';
import type { Actor } from '@app/audit';
import { hookUrl } from '@app/publishing';
import { By, ForManagers, InNavigation, Organization } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import type { Membership } from '../web/sessions.js';
import { HooksService } from './hooks.service.js';

const LONGEST_URL = 2_000;

/** The organization's build hook, which notifies its site when a published post changes. */
@Controller('o/:slug/build-hook')
export class HooksController {
  constructor(private readonly hooks: HooksService) {}

  @Get()
  @ForManagers()
  @InNavigation({ label: 'Build hook', summary: 'Rebuild your website when a post changes.', order: 50 })
  show(@Organization() organization: Membership): Promise<Page> {
    return this.overview(organization, {});
  }

  @Post('add')
  @ForManagers()
  async add(@Organization() organization: Membership, @By() by: Actor, @SentForm() form: Form): Promise<Page> {
    const given = form.text('url');
    let url: string;
    try {
      url = hookUrl(given);
      if (url.length > LONGEST_URL) throw new RangeError(`The address can have at most ${LONGEST_URL} characters.`);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return this.overview(organization, { given, error: error.message }, 422);
    }
    const secret = await this.hooks.add(organization.organizationId, by, url);
    if (secret === null) return this.overview(organization, { again: true }, 422);
    return page('hooks/secret', { title: 'Build hook added', secret, replaced: false });
  }

  @Post('test')
  @ForManagers()
  async test(@Organization() { organizationId, slug }: Membership, @By() by: Actor): Promise<SeeOther> {
    await this.hooks.need(organizationId);
    const queued = await this.hooks.test(organizationId, by);
    return seeOther(
      `/o/${slug}/build-hook`,
      queued
        ? { kind: 'success', text: 'The test is on its way. Reload this page in a few seconds to see the result.' }
        : { kind: 'notice', text: 'A test was sent just now. Wait ten seconds before you send another one.' },
    );
  }

  @Get('rotate')
  @ForManagers()
  async confirmRotation(@Organization() { organizationId }: Membership): Promise<Page> {
    return page('hooks/rotate', { hook: await this.hooks.need(organizationId) });
  }

  /** The form identifies the secret to replace, so that sending it again changes nothing. */
  @Post('rotate')
  @ForManagers()
  async rotate(
    @Organization() organization: Membership,
    @By() by: Actor,
    @SentForm() form: Form,
  ): Promise<Page | SeeOther> {
    await this.hooks.need(organization.organizationId);
    const secret = await this.hooks.rotate(organization.organizationId, by, form.text('version'));
    if (secret !== null) return page('hooks/secret', { title: 'Secret replaced', secret, replaced: true });
    const text = 'The secret had already been replaced after you opened the form, so nothing was changed.';
    return seeOther(`/o/${organization.slug}/build-hook`, { kind: 'notice', text });
  }

  @Get('remove')
  @ForManagers()
  async confirmRemoval(@Organization() { organizationId }: Membership): Promise<Page> {
    return page('hooks/remove', { hook: await this.hooks.need(organizationId) });
  }

  @Post('remove')
  @ForManagers()
  async remove(@Organization() { organizationId, slug }: Membership, @By() by: Actor): Promise<SeeOther> {
    await this.hooks.remove(organizationId, by);
    return seeOther(`/o/${slug}/build-hook`, { kind: 'success', text: 'The build hook was removed.' });
  }

  private async overview({ organizationId }: Membership, more: object, status = 200): Promise<Page> {
    const [hook, deliveries] = await Promise.all([
      this.hooks.find(organizationId),
      this.hooks.deliveries(organizationId),
    ]);
    return page('hooks/hook', { hook, deliveries, ...more }, status);
  }
}
