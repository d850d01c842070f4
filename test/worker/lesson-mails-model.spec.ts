import fc from 'fast-check';
import { CalendarFixture, type ShownSession } from '../support/data/calendar-fixture.js';
import { Follower } from '../support/portal/feeds.js';
import { TestPortal } from '../support/portal/portal.js';
import { fixture } from '../support/process/fixture.js';
import { FamilyPost } from '../support/worker/family-post.js';
import { FamilyRound, type Told } from '../support/worker/family-round.js';

/** Random histories of lessons, against what their mails and calendars say: the last thing that somebody was told is what is so. */

const post = await fixture(FamilyPost.open());
const { api } = post;
const { make } = api;
const portal = await fixture(TestPortal.start({ ENCRYPTION_KEY: '5e'.repeat(32) }, api.database));
const round = new FamilyRound(post);
const RUNS = Number(process.env.RUNS ?? 6);
const HOUR = 3_600_000;
const MONDAY = Math.ceil(Date.now() / HOUR) * HOUR + 72 * HOUR;

const lesson = fc.nat(3);
const act = fc.oneof(
  fc.record({ do: fc.constant('book' as const), slot: fc.nat(300), students: fc.subarray([0, 1, 2], { minLength: 1 }), tutor: fc.nat(1) }),
  fc.record({ do: fc.constant('move' as const), lesson, slot: fc.nat(300) }),
  fc.record({ do: fc.constant('tutor' as const), lesson, tutor: fc.nat(1) }),
  fc.record({ do: fc.constant('students' as const), lesson, students: fc.subarray([0, 1, 2], { minLength: 1 }) }),
  fc.record({ do: fc.constant('cancel' as const), lesson }),
  fc.record({ do: fc.constant('delete' as const), lesson }),
  fc.record({ do: fc.constant('look' as const) }),
  fc.record({ do: fc.constant('pass' as const) }),
  fc.record({ do: fc.constant('fault' as const) }),
);

/** What a reader believes: the times of the lessons that they were told, and not told otherwise. */
class Reader {
  private readonly believes = new Map<string, number>();

  hear({ lines }: Told): void {
    for (const line of lines) {
      const [, verb, rest] = /^(Booked|Changed|Cancelled): (.*)$/.exec(line)!;
      const [now, was] = rest!.split('. It was ');
      const key = keyOf(now!);
      if (verb === 'Booked') this.add(key, 1);
      else if (verb === 'Cancelled') this.add(key, -1);
      else {
        // Another time, or else another tutor or other children.
        if (/\d/.test(was!)) this.add(keyOf(was!.replace(/\.$/, '')), -1);
        else this.add(key, -1);
        this.add(key, 1);
      }
    }
  }

  private add(key: string, count: number): void {
    const left = (this.believes.get(key) ?? 0) + count;
    if (left === 0) this.believes.delete(key);
    else this.believes.set(key, left);
  }

  get lessons(): string[] {
    return [...this.believes].flatMap(([key, count]) => (count > 0 ? Array<string>(count).fill(key) : [`${count} of ${key}`])).sort();
  }
}

/** The day and the hour of a line. */
const keyOf = (line: string): string => /(\w+day \d+ \w+, \d+:\d\d [ap]m)/.exec(line)![1]!;
const shown = (startsAt: string): string => {
  const zone = { timeZone: 'Australia/Melbourne' } as const;
  const day = new Intl.DateTimeFormat('en-AU', { ...zone, weekday: 'long', day: 'numeric', month: 'long' }).format(new Date(startsAt));
  return `${day}, ${new Intl.DateTimeFormat('en-AU', { ...zone, hour: 'numeric', minute: '2-digit' }).format(new Date(startsAt))}`;
};

it('what somebody was told last is what is so, and nobody is told of other families', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: 25 }), async (acts) => {
      const at = await CalendarFixture.open(api);
      const tutors = [at.t1, at.t2];
      const children = [[0, 1], [2]];
      const parents = await Promise.all(children.map((of) => make.parent(at.school, { children: of.map((index) => at.students[index]!) })));
      const people = [...tutors, ...parents.map(({ id }) => id)];
      const addresses = await make.query<{ id: string; email: string }>('SELECT id, email FROM users WHERE id = ANY ($1)', [people]);
      const readers = new Map(addresses.map(({ email }) => [email, new Reader()]));
      await make.query(
        `INSERT INTO family_switches (organization_id, kind) SELECT $1, unnest('{lessons_booked,lessons_moved,lessons_cancelled}'::text[])`,
        [at.school],
      );
      const followers = new Map<string, Follower>();
      for (const person of people) followers.set(person, await Follower.of(portal, person, at.school));
      await round.look();
      const hear = async (told: Promise<Told[]>) => {
        for (const one of await told) readers.get(one.to)!.hear(one);
      };
      const booked: string[] = [];
      const startsAt = (slot: number) => new Date(MONDAY + slot * HOUR).toISOString();
      for (const one of acts) {
        const id = 'lesson' in one ? booked[one.lesson % Math.max(booked.length, 1)] : undefined;
        if (one.do === 'book') {
          const { body } = await at.book(startsAt(one.slot), {
            tutor_id: tutors[one.tutor],
            student_ids: one.students.map((index) => at.students[index]),
          });
          if (body.id) booked.push(body.id);
        } else if (one.do === 'look') {
          await round.look();
          for (const follower of followers.values()) await follower.read();
        } else if (one.do === 'pass') await hear(round.pass());
        else if (one.do === 'fault') {
          // The mail server is busy: these mails are tried again later.
          post.smtp.atMessage = () => ({ code: 451, message: '4.3.2 busy' });
          await hear(round.pass());
          post.smtp.atMessage = () => undefined;
          await make.query(`UPDATE outbox SET due_at = now() WHERE status = 'failed'`);
        } else if (id) {
          if (one.do === 'move') await at.put(id, { starts_at: startsAt(one.slot), duration_minutes: 60 });
          else if (one.do === 'tutor') await at.put(id, { tutor_id: tutors[one.tutor] });
          else if (one.do === 'students') await at.put(id, { student_ids: one.students.map((index) => at.students[index]) });
          else if (one.do === 'cancel') await at.send('post', `/v1/sessions/${id}/cancel`);
          else await at.delete(`/v1/sessions/${id}`);
        }
      }
      await hear(round.pass());
      await hear(round.pass());
      const lessons = (await at.sessions()).filter(({ status }) => status === 'scheduled');
      const taking = await Promise.all(
        lessons.map(async ({ id }) => (await at.participants(id)).filter(({ status }) => status === 'accepted' || status === 'pending')),
      );
      const ofChildren = (of: number[]) => (_: ShownSession, index: number) =>
        taking[index]!.some(({ student_id }) => of.some((child) => at.students[child] === student_id));
      for (const { id, email } of addresses) {
        const child = parents.findIndex((parent) => parent.id === id);
        const mine = child < 0 ? lessons.filter(({ tutor_id }) => tutor_id === id) : lessons.filter(ofChildren(children[child]!));
        expect(await followers.get(id)!.read()).toEqual(mine.map(({ starts_at }) => new Date(starts_at).toISOString()).sort());
        expect(readers.get(email)!.lessons, child < 0 ? 'a tutor' : 'a parent').toEqual(mine.map(({ starts_at }) => shown(starts_at)).sort());
      }
      await make.query('DELETE FROM family_switches');
    }),
    { numRuns: RUNS },
  );
});
