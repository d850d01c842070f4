import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { lockRecord, RESULT, type Tables } from '@app/database';
import { Rows, type RowTable, type Values } from '@app/rows';
import { Refused, type Refusal } from '@app/rules';

/** Only the organization that made a result changes it. */
export const RESULTS: RowTable = {
  table: 'results',
  owner: 'made_by_organization_id',
  references: { student_id: { member: 'learn' }, homework_assignment_id: { table: 'homework' } },
};

type State = Tables['results']['status'];
type Attempt = Values & { status: State; started_at?: Date | null; completed_at?: Date | null };

const STEPS = { in_progress: 'start', submitted: 'submit', completed: 'complete' } as const;

/** Enters the results of an organization's students. */
@Injectable()
export class Results extends Rows {
  /** @throws Refused like Rows, for a student without a session here, for what the state does not have, and for homework like {@link requireFirst} */
  override async add(organizationId: string, kind: RowTable, values: Values): Promise<string> {
    const homework = typeof values.homework_assignment_id === 'string' ? values.homework_assignment_id : null;
    // Its attempts come one after the other, and whom it is for stays.
    if (homework) await lockRecord(this.db, 'homework', organizationId, homework, sql`id`);
    const id = await super.add(organizationId, kind, attempt(values as Attempt, 'not_started'));
    const [taught] = await this.db.query(sql`
      SELECT FROM session_students WHERE organization_id = ${organizationId} AND student_id = ${values.student_id}`);
    if (!taught) throw Refused.invalid('Has no session in this organization yet.', 'student_id');
    if (homework) await this.requireFirst(organizationId, homework, { ...values, id });
    return id;
  }

  /** @throws Refused unless it is the student's only attempt at homework that was set for them */
  private async requireFirst(
    organizationId: string,
    homework: string,
    { id, student_id, mode }: Values,
  ): Promise<void> {
    const [look] = await this.db.query<{ mine: boolean; tried: boolean }>(sql`
      SELECT h.student_id IS NOT DISTINCT FROM ${student_id}::uuid
          OR EXISTS (SELECT FROM classroom_members m WHERE m.organization_id = h.organization_id AND m.classroom_id = h.classroom_id AND m.user_id = ${student_id} AND m.role = 'student')
          OR EXISTS (SELECT FROM student_group_members m WHERE m.group_id = h.group_id AND m.user_id = ${student_id} AND m.role = 'student') AS mine,
        EXISTS (SELECT FROM results r WHERE r.student_id = ${student_id} AND r.homework_assignment_id = h.id AND r.id <> ${id}) AS tried
      FROM homework h WHERE h.organization_id = ${organizationId} AND h.id = ${homework}`);
    if (mode !== 'homework') throw Refused.invalid('An attempt at homework has the mode "homework".', 'mode');
    if (!look!.mine) throw Refused.invalid('It was not set for this student.', 'homework_assignment_id');
    if (look!.tried)
      throw Refused.invalid('The student has a result for it: change that one.', 'homework_assignment_id');
  }

  /** @returns whether anything changed @throws Refused like {@link add}, for a result of others, and for a state out of turn */
  override async change(organizationId: string, kind: RowTable, id: string, values: Values): Promise<boolean> {
    const columns = sql`status, grade, started_at, completed_at`;
    const stored = await lockRecord<Attempt>(this.db, 'results', organizationId, id, columns, kind.owner);
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    const next = (values.status ?? stored.status) as State;
    if (next !== stored.status) {
      if (next === 'not_started') throw Refused.invalidState(stored.status, [next]);
      RESULT.next(STEPS[next], stored.status);
    }
    const changed = attempt({ ...stored, ...given, status: next }, stored.status);
    if (stored.completed_at && !changed.completed_at)
      throw Refused.invalid('A completed result keeps the time of its completion.', 'completed_at');
    const names = [...Object.keys(given), 'started_at', 'completed_at'];
    return super.change(organizationId, kind, id, Object.fromEntries(names.map((name) => [name, changed[name]])));
  }
}

/** With the times of what it has reached. @throws Refused for what its state does not have, and for times that cannot be */
function attempt(row: Attempt, before: State): Attempt {
  const now = new Date();
  const reached = (state: State) => row.status === state && before !== state;
  const whole = {
    ...row,
    started_at: row.started_at ?? (reached('in_progress') ? now : null),
    completed_at: row.completed_at ?? (reached('completed') ? now : null),
  };
  const faults: Refusal[] = [];
  const done = row.status === 'completed';
  for (const field of ['grade', 'completed_at'] as const)
    if (!done && ((whole as Values)[field] ?? null) !== null)
      faults.push({ at: [field], reason: 'Only a completed result has one.' });
  for (const field of ['started_at', 'completed_at'] as const)
    if (whole[field] && whole[field] > now) faults.push({ at: [field], reason: 'Must not be in the future.' });
  const { started_at: from, completed_at: to } = whole;
  if (from && to && to < from) faults.push({ at: ['completed_at'], reason: 'Must not be before "started_at".' });
  if (faults.length > 0) throw Refused.invalidAt(faults);
  return whole;
}
