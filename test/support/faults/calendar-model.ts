import fc from 'fast-check';
import { CalendarFixture, type Sent, type ShownSession } from '../data/calendar-fixture.js';
import type { TestApi } from '../http/api.js';
import { findFault, type Run } from './histories.js';
import { faultsOf } from './invariants.js';

/** Times are quarters of an hour since 09:00 in Melbourne on Monday, 22 March 2027. The clocks go back on 4 April. */
type Command =
  | { kind: 'create'; tutor: number; start: number; length: number; allow: boolean }
  | { kind: 'series'; tutor: number; start: number; length: number; count: number; skip: boolean }
  | { kind: 'move'; which: number; tutor: number; start: number; allow: boolean }
  | { kind: 'cancel'; which: number }
  | { kind: 'delete'; which: number };

interface Lesson {
  id: string;
  tutor: string;
  start: Date;
  end: Date;
  allowed: boolean;
}

const QUARTER_MS = 15 * 60_000;
const WEEK_MS = 7 * 24 * 60 * 60_000;
const FIRST_MS = Date.parse('2027-03-21T22:00:00Z');
const CHANGE_MS = Date.parse('2027-04-03T16:00:00Z');
const NOBODY = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';

const tutor = fc.integer({ min: 0, max: 1 });
const start = fc.integer({ min: 0, max: 12 });
const length = fc.integer({ min: 2, max: 6 });
const which = fc.integer({ min: 0, max: 99 });
const allow = fc.integer({ min: 0, max: 4 }).map((n) => n === 0);
const count = fc.integer({ min: 2, max: 4 });
const of = <K extends string>(kind: K) => fc.constant(kind);

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: of('create'), tutor, start, length, allow }) },
  { weight: 3, arbitrary: fc.record({ kind: of('move'), which, tutor, start, allow }) },
  { weight: 1, arbitrary: fc.record({ kind: of('cancel'), which }) },
  { weight: 1, arbitrary: fc.record({ kind: of('delete'), which }) },
  { weight: 1, arbitrary: fc.record({ kind: of('series'), tutor, start, length, count, skip: fc.boolean() }) },
);

/** Rounds of commands, those of one at the same time. */
const history = fc.array(fc.array(command, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 6 });

/** The time so many weeks later, by the clock on the wall. */
function timeOf(quarter: number, weeks: number): Date {
  const ms = FIRST_MS + quarter * QUARTER_MS + weeks * WEEK_MS;
  return new Date(ms < CHANGE_MS ? ms : ms + 3_600_000);
}

const overlap = (one: { start: Date; end: Date }, other: { start: Date; end: Date }) => one.start < other.end && other.start < one.end;

/** What was sent, when it wanted the tutor, and what was answered. */
interface Tried {
  one: Command;
  wanted: { tutor: string; start: Date; end: Date }[];
  answer: Sent<ShownSession & { data?: ShownSession[]; skipped?: unknown[] }>;
}

class Calendar {
  /** The sessions that have been placed by a request that allowed them to overlap. */
  private readonly allowed = new Set<string>();

  constructor(private readonly at: CalendarFixture) {}

  /** @throws Error that says what is wrong */
  async round(commands: readonly Command[]): Promise<void> {
    const before = await this.stored();
    const tried = await Promise.all(commands.map((one) => this.send(one, before)));
    const after = await this.stored();
    const told = JSON.stringify(tried.map(({ one, answer }) => [one, answer.status, answer.body]));
    const faults = await faultsOf(this.at.api.make, this.at.school);
    if (faults) throw new Error(`${faults} after ${told}`);
    for (const { one, answer } of tried) if ('allow' in one && one.allow && answer.status < 300) this.allowed.add(answer.body.id);
    for (const { id, allowed } of after)
      if (allowed && !this.allowed.has(id)) throw new Error(`may overlap, which nobody has allowed: ${id} after ${told}`);
    const moved = tried.flatMap(({ answer: { status, body } }) => (status < 300 ? (body.data ?? [body]) : []));
    const seen = moved.map(({ id, starts_at, ends_at }) => ({ id, start: new Date(starts_at), end: new Date(ends_at) }));
    for (const one of tried) this.check(one, [...before, ...after, ...seen], told);
  }

  private check({ one, wanted, answer }: Tried, seen: Pick<Lesson, 'id' | 'start' | 'end'>[], told: string): void {
    const { status, body } = answer;
    if (status >= 500) throw new Error(told);
    const placed = status < 300 ? (one.kind === 'series' ? (body.skipped!.length === 0 ? body.data! : []) : 'tutor' in one ? [body] : []) : [];
    for (const [index, { starts_at: shown }] of placed.entries())
      if (new Date(shown).getTime() !== wanted[index]!.start.getTime()) throw new Error(`at another time than it was placed: ${told}`);
    if (status !== 409 || body.error.code !== 'session_overlap') return;
    const versions = seen.filter(({ id }) => id === body.error.details.session_id);
    if (!versions.some((other) => wanted.some((time) => overlap(time, other)))) throw new Error(`names nothing that was in the way: ${told}`);
  }

  private async send(one: Command, before: readonly Lesson[]): Promise<Tried> {
    const target = 'which' in one ? before[one.which % Math.max(before.length, 1)] : undefined;
    const path = `/v1/sessions/${target?.id ?? NOBODY}`;
    if (one.kind === 'cancel') return { one, wanted: [], answer: await this.at.send('post', `${path}/cancel`) };
    if (one.kind === 'delete') return { one, wanted: [], answer: await this.at.send('delete', path) };
    const who = one.tutor === 0 ? this.at.t1 : this.at.t2;
    const ms = 'length' in one ? one.length * QUARTER_MS : target ? target.end.getTime() - target.start.getTime() : QUARTER_MS;
    const wanted = Array.from({ length: one.kind === 'series' ? one.count : 1 }, (_, week) => {
      const at = timeOf(one.start, week);
      return { tutor: who, start: at, end: new Date(at.getTime() + ms) };
    });
    const placed = { tutor_id: who, starts_at: wanted[0]!.start.toISOString() };
    if (one.kind === 'move') return { one, wanted, answer: await this.at.send('put', path, { ...placed, allow_overlap: one.allow }) };
    const lesson = { ...placed, ends_at: wanted[0]!.end.toISOString(), student_id: this.at.students[0] };
    if (one.kind === 'create') return { one, wanted, answer: await this.at.send('post', '/v1/sessions', { ...lesson, allow_overlap: one.allow }) };
    const series = { ...lesson, every_weeks: 1, count: one.count, skip_conflicts: one.skip };
    return { one, wanted, answer: await this.at.send('post', '/v1/session-series', series) };
  }

  private stored(): Promise<Lesson[]> {
    return this.at.api.make.query<Lesson>(
      `SELECT id, tutor_id AS tutor, starts_at AS start, ends_at AS "end", overlap_allowed AS allowed
       FROM sessions WHERE organization_id = $1 ORDER BY id`,
      [this.at.school],
    );
  }
}

/** Random histories by up to eight clients at once. */
export const findOverlap = (api: TestApi, run: Run) =>
  findFault(
    history,
    async (rounds) => {
      const calendar = new Calendar(await CalendarFixture.open(api));
      for (const commands of rounds) await calendar.round(commands);
    },
    run,
  );
