import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, LESSON_NEWS, VALUES } from '@app/database';
import { Refused } from '@app/rules';

const FAMILY_SWITCH_KINDS = VALUES.family_switches.kind;

/** A kind of mail that an organization can switch on. */
export type FamilySwitch = (typeof FAMILY_SWITCH_KINDS)[number];

/** What owners and admins read of each. */
const SAYS: Record<FamilySwitch, { label: string; says: string }> = {
  lessons_booked: {
    label: 'Lesson booked',
    says: 'When a lesson is booked. Several within ten minutes are one email.',
  },
  lessons_moved: {
    label: 'Lesson changed',
    says: 'When its time, tutor, subject or mode changes. What is as it was after ten minutes is not mailed.',
  },
  lessons_cancelled: { label: 'Lesson cancelled', says: 'When a lesson is cancelled or deleted before it begins.' },
  lessons_tomorrow: { label: 'The evening before', says: 'At 6 pm, the lessons of the next day.' },
  reminders: {
    label: 'Payment reminders',
    says: 'Three days before an invoice is due, and 3, 10 and 20 days after, between 9 am and 5 pm, while something is left to pay. Only what comes up from now on.',
  },
};

interface Switch {
  kind: FamilySwitch;
  label: string;
  says: string;
  /** Null while it is off. */
  since: Date | null;
}

/** What an organization mails to families and tutors by itself. Nothing, until a manager switches it on. */
@Injectable()
export class FamilySwitches {
  constructor(private readonly db: Database) {}

  async list(organizationId: string): Promise<Switch[]> {
    const [rows] = await this.db.read<[{ kind: FamilySwitch; since: Date }]>(
      { organizationId },
      sql`SELECT kind, created_at AS since FROM family_switches WHERE organization_id = ${organizationId}`,
    );
    return FAMILY_SWITCH_KINDS.map((kind) => ({
      kind,
      ...SAYS[kind],
      since: rows.find((row) => row.kind === kind)?.since ?? null,
    }));
  }

  /** Inside the ambient transaction. @throws Refused for an unknown kind */
  async turn(organizationId: string, asked: string, on: boolean) {
    const kind = FAMILY_SWITCH_KINDS.find((one) => one === asked);
    if (!kind) throw Refused.notFound();
    const changed = await this.db.count(
      on
        ? sql`INSERT INTO family_switches (organization_id, kind) VALUES (${organizationId}, ${kind}) ON CONFLICT DO NOTHING`
        : sql`DELETE FROM family_switches WHERE organization_id = ${organizationId} AND kind = ${kind}`,
    );
    // What happens while nobody is told of it counts as told once they are again.
    await this.db.query(sql`
      UPDATE family_rounds SET position = NULL WHERE organization_id = ${organizationId} AND NOT EXISTS (SELECT FROM family_switches
        WHERE organization_id = ${organizationId} AND kind = ANY (${LESSON_NEWS}))`);
    return { changed: changed > 0, audit: { kind } };
  }
}
