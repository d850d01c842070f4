import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { lockRecord, SQLSTATE, sqlStateOf, type Tables } from '@app/database';
import { firstOwner } from '@app/people';
import { Rows, type RowTable, type Values } from '@app/rows';
import { Refused } from '@app/rules';
import { requireTarget } from './targets.js';

export const HOMEWORK: RowTable = {
  table: 'homework',
  references: {
    assigned_by: { member: 'teach' },
    student_id: { member: 'learn' },
    classroom_id: { table: 'classrooms' },
    group_id: { table: 'student_groups' },
  },
  json: ['files'],
};

/** Whom homework is for: exactly the classroom, group or student that its scope says. */
type Target = Pick<Tables['homework'], 'scope'> & Partial<Record<(typeof TARGETS)[number], string | null>>;

const TARGETS = ['classroom_id', 'group_id', 'student_id'] as const;

/** Sets homework, in the name of the first owner unless somebody else is given. */
@Injectable()
export class Homework extends Rows {
  /** The database derives whose it is. @throws Refused like Rows, for another target than its scope's, and if it would be nobody's or another organization's */
  override async add(organizationId: string, kind: RowTable, values: Values): Promise<string> {
    requireMatching(values as Target & Values);
    const assigned_by = values.assigned_by ?? (await firstOwner(this.db, organizationId));
    if (!assigned_by) throw Refused.invalid('Required: this organization has no owner.', 'assigned_by');
    const id = await super.add(organizationId, kind, { ...values, assigned_by }).catch((error: unknown) => {
      throw sqlStateOf(error) === SQLSTATE.insufficientPrivilege ? unrelated() : error;
    });
    const [derived] = await this.db.query(sql`
      SELECT FROM homework WHERE organization_id = ${organizationId} AND id = ${id}`);
    if (!derived) throw unrelated();
    return id;
  }

  /** A new scope drops the former target. @returns whether anything changed @throws Refused like {@link add}, for unknown homework, and for another target once it has results */
  override async change(organizationId: string, kind: RowTable, id: string, values: Values): Promise<boolean> {
    const columns = sql`scope, classroom_id, group_id, student_id`;
    const stored = await lockRecord<Target>(this.db, 'homework', organizationId, id, columns);
    const moves = values.scope !== undefined && values.scope !== stored.scope;
    const former: Values = moves ? Object.fromEntries(TARGETS.map((target) => [target, null])) : {};
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    const aimed = moves || TARGETS.some((target) => target in given);
    if (aimed) {
      const target: Target & Values = { ...stored, ...former, ...given };
      requireMatching(target);
      if (TARGETS.some((name) => target[name] !== stored[name])) await this.requireUntried(id);
    }
    return super.change(organizationId, kind, id, { ...former, ...given });
  }

  /** Whoever has a result for it, it was set for. @throws Refused */
  private async requireUntried(id: string): Promise<void> {
    const [result] = await this.db.query(sql`SELECT FROM results WHERE homework_assignment_id = ${id} LIMIT 1`);
    if (!result) return;
    const words = 'There are results for it already: set new homework for somebody else.';
    throw Refused.conflict('still_referenced', words, { referenced_by: 'results' });
  }
}

const requireMatching = ({ scope, classroom_id = null, group_id = null, student_id = null }: Target) =>
  requireTarget({ scope, classroomId: classroom_id, groupId: group_id, studentId: student_id });

const unrelated = () =>
  Refused.invalid('Relate this tutor to the student first: nothing else says whose homework it is.', 'assigned_by');
