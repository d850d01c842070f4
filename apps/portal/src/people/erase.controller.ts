import { Controller, Get, Param, Post } from '@nestjs/common';
import { Erasures } from '@app/access';
import { Database } from '@app/database';
import sql from 'sql-template-tag';
import { ConfirmIdentity, ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { PersonService } from './person.service.js';

/** What is decided about somebody's data. */
interface DecidedRow {
  asked_at: Date | null;
  due_at: Date | null;
  keep_results: boolean | null;
  reason: string | null;
}

type What = 'ask' | 'call-off' | 'hold' | 'release';

/** Where owners decide whether somebody who has left is erased. */
@Controller('o/:slug/people/:user_id/erase')
@ForManagers()
export class EraseController {
  constructor(
    private readonly db: Database,
    private readonly people: PersonService,
    private readonly erasures: Erasures,
    private readonly operations: FormOperations,
  ) {}

  @Get()
  @ConfirmIdentity()
  async show(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page> {
    if (organization.role !== 'owner') throw PageError.notFound();
    const person = await this.people.person(organization, organization.by, pathId(id));
    const { organizationId } = organization;
    const [[decided]] = await this.db.read<[DecidedRow]>(
      { organizationId },
      sql`SELECT e.asked_at, e.due_at, e.keep_results, h.reason FROM (VALUES (${person.id}::uuid)) p (id)
        LEFT JOIN erasures e ON e.organization_id = ${organizationId} AND e.person_id = p.id
        LEFT JOIN holds h ON h.organization_id = ${organizationId} AND h.user_id = p.id`,
    );
    return page('people/erase', { person, decided });
  }

  @Post('ask')
  @ConfirmIdentity()
  ask(@Managing() organization: Managed, @Param('user_id') id: string): Promise<SeeOther> {
    const keep = organization.form.text('results') === 'keep';
    return this.decide(
      organization,
      'ask',
      id,
      (name) => `The data of ${name} is erased in seven days, unless an owner calls it off.`,
      (person) => this.erasures.ask(organization.organizationId, organization.by, person, keep),
    );
  }

  @Post('call-off')
  @ConfirmIdentity()
  callOff(@Managing() organization: Managed, @Param('user_id') id: string): Promise<SeeOther> {
    return this.decide(
      organization,
      'call-off',
      id,
      (name) => `The data of ${name} stays.`,
      (person) => this.erasures.callOff(organization.organizationId, organization.by, person),
    );
  }

  @Post('hold')
  @ConfirmIdentity()
  hold(@Managing() organization: Managed, @Param('user_id') id: string): Promise<SeeOther> {
    const reason = organization.form.text('reason').trim();
    return this.decide(
      organization,
      'hold',
      id,
      (name) => `The data of ${name} cannot be erased until an owner releases it.`,
      (person) => this.erasures.hold(organization.organizationId, organization.by, person, reason),
    );
  }

  @Post('release')
  @ConfirmIdentity()
  release(@Managing() organization: Managed, @Param('user_id') id: string): Promise<SeeOther> {
    return this.decide(
      organization,
      'release',
      id,
      (name) => `The data of ${name} is held no longer.`,
      (person) => this.erasures.release(organization.organizationId, organization.by, person),
    );
  }

  private decide(
    organization: Managed,
    what: What,
    id: string,
    told: (name: string) => string,
    run: (personId: string) => Promise<{ changed: boolean }>,
  ): Promise<SeeOther> {
    const ids = { user_id: pathId(id) };
    const operation = OPERATIONS[what];
    const at = `/o/${organization.slug}/people/${ids.user_id}/erase`;
    const named = async (): Promise<string | SeeOther> => told(await this.people.nameOf(organization, ids.user_id));
    return this.operations.answer(organization, operation, ids, () => run(ids.user_id), at, named, { people: true });
  }
}

const OPERATIONS = {
  ask: 'ask erasure',
  'call-off': 'call off erasure',
  hold: 'hold person',
  release: 'release person',
} as const;
