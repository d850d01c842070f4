import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { type Obstacle, Obstacles, type Planned } from '@app/scheduling';
import { nameOf } from '../money/invoices.queries.js';
import type { Managed } from '../web/access.decorators.js';
import { type Page, page } from '../web/pages.js';

/** How much of what stands in the way a page names. */
const MOST_NAMED = 20;

/** Thrown to roll a change back until somebody has said yes to what stands in its way. */
class InTheWay extends Error {
  constructor(
    readonly obstacles: Obstacle[],
    readonly tutorId: string | null,
  ) {
    super('something stands in the way');
  }
}

/** What may overlap, once somebody has said yes to what stands in the way. */
export interface Allowed {
  allowOverlap: boolean;
  allowStudentOverlap: boolean;
}

/** What an operation that needs a second yes is called on its page. */
interface Asked {
  title: string;
  yes: string;
  action: string;
  back: string;
}

/** Asks once more before a lesson is booked or moved to where something stands in the way. */
@Injectable()
export class SecondLook {
  constructor(
    private readonly db: Database,
    private readonly obstacles: Obstacles,
  ) {}

  /** In the ambient transaction. @throws InTheWay unless the form says yes to exactly what stands in the way */
  async require({ organizationId, form }: Managed, planned: Planned): Promise<Allowed> {
    const found = await this.obstacles.of(organizationId, planned);
    if (versionOf(found) !== form.text('anyway')) throw new InTheWay(found, planned.tutorId);
    return allowedBy(found);
  }

  /** The page that asks; whatever else was thrown is thrown on. */
  async ask(organization: Managed, error: unknown, asked: Asked): Promise<Page> {
    if (!(error instanceof InTheWay)) throw error;
    const { form_token: token, anyway: _, ...fields } = organization.form.all();
    const told = await this.told(organization, error.obstacles, error.tutorId);
    return page('lessons/in-the-way', { ...told, ...asked, fields, sent: token, version: versionOf(error.obstacles) });
  }

  /** Obstacles with the names that the page shows. */
  async told({ organizationId }: Pick<Managed, 'organizationId'>, obstacles: Obstacle[], tutorId: string | null) {
    const named = obstacles.slice(0, MOST_NAMED);
    const ids = [tutorId, ...named.map(({ studentId }) => studentId)].filter((id) => typeof id === 'string');
    const [people] = await this.db.read<[{ id: string; name: string | null }]>(
      { organizationId },
      sql`SELECT m.user_id AS id, ${nameOf} AS name FROM members m LEFT JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = ${organizationId} AND m.user_id = ANY (${ids}::uuid[])`,
    );
    const names = new Map(people.map(({ id, name }) => [id, name]));
    return {
      obstacles: named.map((one) => ({ ...one, name: names.get(one.studentId ?? tutorId ?? '') ?? null })),
      others: obstacles.length - named.length,
    };
  }
}

/** Identifies what stands in the way; empty for nothing. */
export const versionOf = (obstacles: readonly Obstacle[]): string =>
  obstacles.length === 0 ? '' : createHash('sha256').update(JSON.stringify(obstacles)).digest('base64url').slice(0, 22);

const allowedBy = (obstacles: readonly Obstacle[]): Allowed => ({
  allowOverlap: obstacles.some(({ kind }) => kind === 'tutor_busy'),
  allowStudentOverlap: obstacles.some(({ kind }) => kind === 'student_busy'),
});
