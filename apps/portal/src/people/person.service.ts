import { Injectable } from '@nestjs/common';
import type { ActingPerson } from '@app/audit';
import { Database } from '@app/database';
import { PageError } from '../web/page-error.js';
import type { CodeRow } from './codes.queries.js';
import { moneyIn } from '../money/amounts.js';
import type { Membership } from '../web/sessions.js';
import { PersonWork, type Work } from './person-work.js';
import {
  type RelationCountsRow,
  type BillingRow,
  billingOf,
  calendarOf,
  relationCountsOf,
  cameBy,
  type CameByRow,
  codesOf,
  familyOf,
  type FamilyRow,
  letInBy,
  type LetInRow,
  type NamedRow,
  notesOf,
  type NotesRow,
  otherStaff,
  type TieRow,
  tiesOf,
} from './person.queries.js';

/** Somebody of the organization, and what they have there. */
export interface Person {
  id: string;
  name: string;
  ties: TieRow[];
  belongings: RelationCountsRow;
  family: FamilyRow[];
  billing: BillingRow[];
  /** Since when they have a calendar address. */
  calendar: Date | null;
  /** null of anybody but a student. */
  notes: NotesRow | null;
  came: CameByRow[];
  /** Codes that end if they leave or no longer manage. */
  codes: CodeRow[];
  /** Who came by what they or their keys made; of somebody who no longer manages. */
  letIn: LetInRow[];
  /** Whether anything is left to end. */
  belongs: boolean;
  /** Whether the person who is signed in may end it. */
  removable: boolean;
  self: boolean;
}

/** What their page shows besides. */
export interface ShownPerson extends Person {
  as: 'student' | 'parent' | 'staff';
  work: Work;
  money: (cents: number) => string;
}

/** One person of an organization, to be read by its owners and admins. */
@Injectable()
export class PersonService {
  constructor(
    private readonly db: Database,
    private readonly work: PersonWork,
  ) {}

  /** As whom pages say what became of somebody. @throws PageError 404 */
  async nameOf({ organizationId }: Membership, id: string): Promise<string> {
    const [[first]] = await this.db.read<[TieRow]>({ organizationId }, tiesOf(organizationId, id));
    if (!first) throw PageError.notFound();
    return nameIn(first);
  }

  /** @throws PageError 404 */
  async person(organization: Membership, by: ActingPerson, id: string): Promise<Person> {
    const { organizationId, role } = organization;
    const [ties, [belongings], family, came, codes, letIn, billing, [calendar], [notes]] = await this.db.read<
      [TieRow, RelationCountsRow, FamilyRow, CameByRow, CodeRow, LetInRow, BillingRow, { since: Date }, NotesRow]
    >(
      { organizationId },
      tiesOf(organizationId, id),
      relationCountsOf(organizationId, id),
      familyOf(organizationId, id),
      cameBy(organizationId, id),
      codesOf(organizationId, id),
      letInBy(organizationId, id),
      billingOf(organizationId, id),
      calendarOf(organizationId, id),
      notesOf(organizationId, id),
    );
    const [first] = ties;
    if (!first) throw PageError.notFound();
    const name = nameIn(first);
    const self = by.userId === id;
    const manages = ties.some((tie) => tie.role === 'owner' || tie.role === 'admin');
    const belongs = ties.some(({ status }) => status !== 'archived');
    const removable = belongs && (self || !manages || role === 'owner');
    const shown = { id, name, ties, family, billing, came, codes, letIn, belongs, removable, self };
    return { ...shown, belongings: belongings!, calendar: calendar?.since ?? null, notes: notes ?? null };
  }

  /** The person with what they do here, for their page. @throws PageError 404 */
  async shown(organization: Membership, by: ActingPerson, id: string): Promise<ShownPerson> {
    const person = await this.person(organization, by, id);
    const { role } = person.ties[0]!;
    const as = role === 'student' || role === 'parent' ? role : 'staff';
    const work = await this.work.of(organization, id, as);
    return { ...person, as, work, money: moneyIn(work.currency) };
  }

  async successors({ organizationId }: Membership, id: string): Promise<NamedRow[]> {
    const [rows] = await this.db.read<[NamedRow]>({ organizationId }, otherStaff(organizationId, id));
    return rows;
  }
}

const nameIn = ({ first_name: first, last_name: last }: Pick<TieRow, 'first_name' | 'last_name'>): string =>
  [first, last].filter(Boolean).join(' ') || 'Without a name';
