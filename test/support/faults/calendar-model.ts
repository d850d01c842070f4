import fc from 'fast-check';
import { overlaps } from '@app/scheduling';
import { CalendarFixture, type Sent, type ShownSession } from '../data/calendar-fixture.js';
import type { TestApi } from '../http/api.js';

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
  startsAt: Date;
  endsAt: Date;
  cancelled: boolean;
  /** Whether its last placement was allowed to overlap. */
  allowed: boolean;
}

const QUARTER_MS = 15 * 60_000;
const WEEK_MS = 7 * 24 * 60 * 60_000;
const FIRST_MS = Date.parse('2027-03-21T22:00:00Z');
const CHANGE_MS = Date.parse('2027-04-03T16:00:00Z');

const tutor = fc.integer({ min: 0, max: 1 });
const start = fc.integer({ min: 0, max: 12 });
const length = fc.integer({ min: 2, max: 6 });
const which = fc.integer({ min: 0, max: 99 });
const rarely = fc.integer({ min: 0, max: 4 }).map((n) => n === 0);

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('create' as const), tutor, start, length, allow: rarely }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('move' as const), which, tutor, start, allow: rarely }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('series' as const), tutor, start, length, count: fc.integer({ min: 2, max: 4 }), skip: fc.boolean() }),
  },
);

/** Rounds of commands, those of one at the same time. */
const history = fc.array(fc.array(command, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 6 });

/** The time so many weeks later, by the clock on the wall. */
function timeOf(quarter: number, quarters: number, weeks = 0) {
  const ms = FIRST_MS + quarter * QUARTER_MS + weeks * WEEK_MS;
  const at = ms < CHANGE_MS ? ms : ms + 3_600_000;
  return { startsAt: new Date(at), endsAt: new Date(at + quarters * QUARTER_MS) };
}

const isAt = (lesson: Lesson, time: { tutor: string; startsAt: Date }) =>
  lesson.tutor === time.tutor && lesson.startsAt.getTime() === time.startsAt.getTime();

/** A calendar in memory beside the real one. */
class Calendar {
  private lessons = new Map<string, Lesson>();

  constructor(private readonly at: CalendarFixture) {}

  /** @throws Error that says what is wrong */
  async round(commands: readonly Command[]): Promise<void> {
    const before = [...this.lessons.values()];
    const sent = await Promise.all(commands.map(async (one) => ({ one, ...this.wish(one, before), answer: await this.send(one, before) })));
    const placed = sent
      .filter(({ answer }) => answer.status < 300)
      .flatMap(({ one, wanted, answer }) => made(one, answer).map((id, index) => ({ id, ...wanted[index]! })));
    // Who stays where they are is not placed anew: whatever overlaps was allowed before.
    const stayed = sent.filter(({ one, target, wanted: [time] }) => one.kind === 'move' && target && time && isAt(target, time));
    const unmoved = stayed.map(({ target }) => target!.id);
    const after = await this.read(
      sent.flatMap(({ one, answer }) => (answer.status < 300 && 'allow' in one && one.allow ? made(one, answer) : [])),
      placed.map(({ id }) => id).filter((id) => !unmoved.includes(id)),
    );
    for (const { one, target, wanted, answer } of sent) {
      const { status, body } = answer;
      const told = `${JSON.stringify(one)}: ${status} ${JSON.stringify(body)}`;
      if (status >= 500) throw new Error(told);
      if (status === 409 && body.error.code === 'session_overlap') {
        const versions = [...before, ...after, ...placed].filter(({ id }) => id === body.error.details.session_id);
        if (!versions.some((other) => wanted.some((time) => overlaps(time, other)))) throw new Error(`names no session that was there: ${told}`);
      }
      if (commands.length > 1) continue;
      const clashes = wanted.filter((time) =>
        before.some((other) => !other.cancelled && other.tutor === time.tutor && other.id !== target?.id && overlaps(time, other)),
      );
      const mayOverlap = 'allow' in one && one.allow;
      const moved = one.kind !== 'move' || !target || !isAt(target, wanted[0]!);
      const refused = moved && clashes.length > 0 && !mayOverlap && !(one.kind === 'series' && one.skip && clashes.length < wanted.length);
      const gone = 'which' in one && !target;
      const closed = one.kind === 'move' && target?.cancelled;
      const right = gone ? 404 : closed || refused ? 409 : one.kind === 'delete' ? 204 : one.kind === 'create' || one.kind === 'series' ? 201 : 200;
      if (status !== right) throw new Error(`must be ${right}: ${told}`);
    }
    for (const { id, startsAt, endsAt } of placed) {
      const touched = sent.filter(({ target }) => target?.id === id).length;
      const now = this.lessons.get(id);
      const right = now && now.startsAt.getTime() === startsAt.getTime() && now.endsAt.getTime() === endsAt.getTime();
      if (touched <= 1 && !right) throw new Error(`is not where it was placed: ${JSON.stringify({ id, startsAt, now })}`);
    }
    for (const lesson of after) {
      const other = after.find(
        (one) =>
          one !== lesson &&
          one.tutor === lesson.tutor &&
          overlaps(one, lesson) &&
          !one.cancelled &&
          !lesson.cancelled &&
          !one.allowed &&
          !lesson.allowed,
      );
      if (other) throw new Error(`overlap: ${JSON.stringify([lesson, other])}`);
    }
  }

  /** What a command wants, and the lesson that it is about. */
  private wish(one: Command, before: readonly Lesson[]) {
    const target = 'which' in one ? before[one.which % Math.max(before.length, 1)] : undefined;
    if (one.kind === 'cancel' || one.kind === 'delete') return { target, wanted: [] };
    const tutor = one.tutor === 0 ? this.at.t1 : this.at.t2;
    const length = one.kind === 'move' ? (target ? (target.endsAt.getTime() - target.startsAt.getTime()) / QUARTER_MS : 1) : one.length;
    const weeks = one.kind === 'series' ? one.count : 1;
    return { target, wanted: Array.from({ length: weeks }, (_, week) => ({ tutor, ...timeOf(one.start, length, week) })) };
  }

  private send(one: Command, before: readonly Lesson[]): Promise<Sent<ShownSession & { data?: ShownSession[] }>> {
    const { target, wanted } = this.wish(one, before);
    const id = target?.id ?? '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';
    const [time] = wanted;
    const placed = { tutor_id: time?.tutor, starts_at: time?.startsAt.toISOString() };
    const lesson = { ...placed, ends_at: time?.endsAt.toISOString(), student_id: this.at.students[0] };
    switch (one.kind) {
      case 'create':
        return this.at.send('post', '/v1/sessions', { ...lesson, allow_overlap: one.allow });
      case 'series':
        return this.at.send('post', '/v1/session-series', { ...lesson, every_weeks: 1, count: one.count, skip_conflicts: one.skip });
      case 'move':
        return this.at.send('put', `/v1/sessions/${id}`, { ...placed, allow_overlap: one.allow });
      case 'cancel':
        return this.at.send('post', `/v1/sessions/${id}/cancel`);
      case 'delete':
        return this.at.send('delete', `/v1/sessions/${id}`);
    }
  }

  /** Takes over what is stored. @param allowed the sessions that this round has allowed to overlap, of those that it placed */
  private async read(allowed: string[], placed: string[]): Promise<Lesson[]> {
    const stored: ShownSession[] = [];
    for (let cursor: string | null = 'start'; cursor !== null;) {
      const page: Sent<{ data: ShownSession[]; meta: { next_cursor: string | null } }> = await this.at.send(
        'get',
        `/v1/sessions?limit=100&cursor=${cursor}`,
      );
      stored.push(...page.body.data);
      cursor = page.body.meta.next_cursor;
    }
    const now = stored.map(({ id, tutor_id, starts_at, ends_at, status }) => ({
      id,
      tutor: tutor_id!,
      startsAt: new Date(starts_at),
      endsAt: new Date(ends_at),
      cancelled: status === 'cancelled',
      allowed: allowed.includes(id) || (!placed.includes(id) && this.lessons.get(id)?.allowed === true),
    }));
    this.lessons = new Map(now.map((lesson) => [lesson.id, lesson]));
    return now;
  }
}

/** The sessions that a successful command placed; of a series without those that it skipped, which come last. */
function made(one: Command, { body }: Sent<ShownSession & { data?: ShownSession[] }>): string[] {
  if (one.kind === 'create' || one.kind === 'move') return [body.id];
  if (one.kind !== 'series') return [];
  // Their times are compared only if none was left out.
  const { data, skipped } = body as unknown as { data: ShownSession[]; skipped: unknown[] };
  return skipped.length === 0 ? data.map(({ id }) => id) : [];
}

/** Runs random histories by up to eight clients at once. @returns the shortest one that breaks a rule, and which; null for none */
export async function findOverlap(api: TestApi, { seed, runs }: { seed: number; runs: number }): Promise<string | null> {
  const property = fc.asyncProperty(history, async (rounds) => {
    const calendar = new Calendar(await CalendarFixture.open(api));
    for (const commands of rounds) await calendar.round(commands);
  });
  const { failed, counterexample, errorInstance } = await fc.check(property, { seed, numRuns: runs, endOnFailure: true });
  return failed ? `${String(errorInstance)} in ${JSON.stringify(counterexample)}` : null;
}
