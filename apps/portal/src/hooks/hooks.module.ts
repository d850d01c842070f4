import { Controller, Get, Module, Post } from '@nestjs/common';
import { inWords } from '@app/jobs';
import { type BuildHook, BuildHooks, PublishingModule, siteOf } from '@app/publishing';
import { Addresses, WebhooksModule } from '@app/webhooks';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';

const DELIVERIES = 20;

/** The organization's build hook, which notifies its site when a published post changes. */
@Controller('o/:slug/build-hook')
@ForManagers()
class HooksController {
  constructor(
    private readonly operations: FormOperations,
    private readonly hooks: BuildHooks,
    private readonly addresses: Addresses,
  ) {}

  @Get()
  @InNavigation('Developers', 'Build hook', 3)
  show(@Managing() organization: Managed): Promise<Page> {
    return this.overview(organization, {});
  }

  @Get('add')
  @ConfirmIdentity()
  async askAdd(@Managing() { organizationId, slug }: Managed): Promise<Page | SeeOther> {
    return (await this.hooks.find(siteOf(organizationId))) ? seeOther(`/o/${slug}/build-hook`) : page('hooks/add');
  }

  @Post('add')
  @ConfirmIdentity()
  async add(@Managing() organization: Managed): Promise<Page> {
    const { organizationId, slug, form } = organization;
    const given = form.text('url');
    let url: string;
    try {
      url = this.addresses.check(given, slug);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return page('hooks/add', { given, error: error.message }, 422);
    }
    const secret = await this.secret(organization, 'add_build_hook', () => this.hooks.add(siteOf(organizationId), url));
    if (secret === null) return this.overview(organization, { again: true }, 422);
    return page('hooks/secret', { title: 'Build hook added', secret, replaced: false });
  }

  @Post('test')
  async test(@Managing() organization: Managed): Promise<SeeOther> {
    const { organizationId, slug } = organization;
    await this.need(organizationId);
    const test = () => this.hooks.test(siteOf(organizationId));
    const queued = await this.operations.perform(organization, 'test_build_hook', {}, test, { repeatable: true });
    const list = `/o/${slug}/build-hook`;
    return queued
      ? seeOther(list, 'success', 'The test is on its way. Reload this page in a few seconds to see the result.')
      : seeOther(list, 'notice', 'A test was sent just now. Wait ten seconds before you send another one.');
  }

  @Get('rotate')
  @ConfirmIdentity()
  async confirmRotation(@Managing() { organizationId }: Managed): Promise<Page> {
    return page('hooks/rotate', { hook: await this.need(organizationId) });
  }

  /** The form identifies the secret to replace, so that sending it again changes nothing. */
  @Post('rotate')
  @ConfirmIdentity()
  async rotate(@Managing() organization: Managed): Promise<Page | SeeOther> {
    const { organizationId, slug, form } = organization;
    await this.need(organizationId);
    const rotate = () => this.hooks.rotate(siteOf(organizationId), form.text('version'));
    const secret = await this.secret(organization, 'rotate_build_hook_secret', rotate);
    if (secret !== null) return page('hooks/secret', { title: 'Secret replaced', secret, replaced: true });
    const text = 'The secret had already been replaced after you opened the form, so nothing was changed.';
    return seeOther(`/o/${slug}/build-hook`, 'notice', text);
  }

  @Get('remove')
  @ConfirmIdentity()
  async confirmRemoval(@Managing() { organizationId }: Managed): Promise<Page> {
    return page('hooks/remove', { hook: await this.need(organizationId) });
  }

  @Post('remove')
  @ConfirmIdentity()
  async remove(@Managing() organization: Managed): Promise<SeeOther> {
    const { organizationId, slug } = organization;
    const remove = () => this.hooks.remove(siteOf(organizationId));
    await this.operations.perform(organization, 'remove_build_hook', {}, remove, { repeatable: true });
    return seeOther(`/o/${slug}/build-hook`, 'success', 'The build hook was removed.');
  }

  /** @throws PageError 404 without a hook */
  private async need(organizationId: string): Promise<BuildHook> {
    const hook = await this.hooks.find(siteOf(organizationId));
    if (!hook) throw PageError.notFound();
    return hook;
  }

  /** @returns the new secret; null if nothing changed */
  private async secret(
    organization: Managed,
    operation: 'add_build_hook' | 'rotate_build_hook_secret',
    make: () => Promise<string | null>,
  ) {
    const run = async () => {
      const secret = await make();
      return { changed: secret !== null, answer: secret };
    };
    const done = await this.operations.perform(organization, operation, {}, run, { repeatable: true });
    return done && done.answer;
  }

  private async overview({ organizationId }: Managed, more: object, status = 200): Promise<Page> {
    const [hook, deliveries] = await Promise.all([
      this.hooks.find(siteOf(organizationId)),
      this.hooks.deliveries(siteOf(organizationId), DELIVERIES),
    ]);
    const told = deliveries.map((row) => ({ ...row, reason: row.problem && inWords(row.problem) }));
    return page('hooks/hook', { hook, deliveries: told, ...more }, status);
  }
}

@Module({ imports: [PublishingModule, WebhooksModule], controllers: [HooksController] })
export class HooksModule {}
