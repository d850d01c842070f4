import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Codes } from '@app/access';
import { parseDate } from '@app/database';
import { ConfirmIdentity, ForManagers, InNavigation, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { positionText, readPosition } from '../web/paging.js';
import { CodesService } from './codes.service.js';

const HOUR_MS = 3_600_000;

/** The codes and links that anybody can use, for the owners and admins who hand them out. */
@Controller('o/:slug/people/codes')
@ForManagers()
export class CodesController {
  constructor(
    private readonly codes: CodesService,
    private readonly operations: FormOperations,
    private readonly rules: Codes,
  ) {}

  @Get()
  @InNavigation('People', 'Codes', 9)
  async list(@Managing() organization: Managed, @Query('after') after: unknown): Promise<Page> {
    const place = readPosition(after);
    const { permanent, rows, next } = await this.codes.list(organization, place);
    return page('people/codes', {
      permanent,
      codes: rows,
      isFirst: place === null,
      next: next && `?after=${positionText(next)}`,
    });
  }

  @Get(':invite_id/print')
  async print(@Managing() organization: Managed, @Param('invite_id') id: string): Promise<Page> {
    return page('people/code-print', { code: await this.codes.code(organization, pathId(id)) });
  }

  /** Shows the new code here if it is not kept. */
  @Post(':invite_id/replace')
  @ConfirmIdentity()
  replace(@Managing() organization: Managed, @Param('invite_id') id: string): Promise<Page | SeeOther> {
    const [{ organizationId, by }, list] = [organization, pathOf(organization)];
    const replace = () => this.rules.replace(organizationId, by, pathId(id));
    const shown = async ({ answer: { id: newId, secret } }: Awaited<ReturnType<typeof replace>>) => {
      const code = await this.codes.code(organization, newId);
      if (code.code !== null)
        return seeOther(list, 'success', 'The old code has stopped working. The new one is here.');
      return page('people/code-replaced', { code: { ...code, code: secret, url: this.codes.urlOf(secret) } });
    };
    return this.operations.answer(organization, 'replace code', {}, replace, list, shown, { people: true });
  }

  @Post(':invite_id/switch-off')
  @ConfirmIdentity()
  switchOff(@Managing() organization: Managed, @Param('invite_id') id: string): Promise<SeeOther> {
    const ids = { invite_id: pathId(id) };
    const off = () => this.rules.switchOff(organization.organizationId, ids.invite_id);
    const [list, told] = [pathOf(organization), 'The code no longer works. Whoever has joined stays.'];
    return this.operations.answer(organization, 'switch off code', ids, off, list, told, { people: true });
  }

  @Get(':invite_id/undo')
  @ConfirmIdentity()
  async askUndo(
    @Managing() organization: Managed,
    @Param('invite_id') id: string,
    @Query('since') text: unknown,
  ): Promise<Page> {
    const now = Date.now();
    const since = momentOf(text) ?? new Date(now - HOUR_MS);
    const code = await this.codes.code(organization, pathId(id));
    const [people, count] = await this.codes.since(organization, code.id, since);
    const others = [
      ['Last hour', new Date(now - HOUR_MS)],
      ['Last day', new Date(now - 24 * HOUR_MS)],
      ['Since it was made', code.created_at],
    ];
    return page('people/code-undo', { code, people, count, since, others });
  }

  @Post(':invite_id/undo')
  @ConfirmIdentity()
  async undo(@Managing() organization: Managed, @Param('invite_id') id: string): Promise<SeeOther> {
    const { id: invite_id } = await this.codes.code(organization, pathId(id));
    const since = momentOf(organization.form.text('since'));
    if (since === null) throw PageError.badForm();
    const list = pathOf(organization);
    const again = `${list}/${invite_id}/undo?since=${since.toISOString()}`;
    const undo = this.codes.undoing(organization, organization.by, invite_id, since);
    const told = ({ answer: { removed, left } }: Awaited<ReturnType<typeof undo>>) => {
      const people = removed === 1 ? '1 person' : `${removed.toLocaleString('en-AU')} people`;
      if (left > 0) return seeOther(again, 'notice', `${people} removed. There are more: continue below.`);
      return removed === 0 ? 'Nobody is left to remove.' : `${people} removed.`;
    };
    return this.operations.answer(organization, 'undo joins', { invite_id }, undo, list, told, { people: true });
  }
}

const pathOf = ({ slug }: Managed) => `/o/${slug}/people/codes`;

/** ISO 8601 in UTC; null for anything else. */
function momentOf(text: unknown): Date | null {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) return null;
  return parseDate(text)?.at ?? null;
}
