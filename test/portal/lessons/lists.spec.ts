import { addDays, dayOf, dayOfWeek, startOfDay } from '@app/scheduling';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;
const ZONE = 'Australia/Melbourne';
const HOUR = 3_600_000;
/** Clocks went back on 5 April 2026. */
const MONDAY = '2026-03-30';
const STATUSES = ['scheduled', 'scheduled', 'completed', 'pending', 'cancelled'] as const;

interface Made {
  id: string;
  startsAt: Date;
  endsAt: Date;
  status: (typeof STATUSES)[number];
  tutorId: string | null;
  students: string[];
}

/** An organization with lessons that begin so many hours after an instant, of three tutors or nobody, each with one or two of four students. */
async function school(from: Date, hours: number[], more: (number: number) => Partial<Made> = () => ({})) {
  const organization = await make.organization({ timeZone: ZONE });
  const owner = await portal.someone('owner', { organization });
  const people = <T>(count: number, one: () => Promise<T>) => Promise.all(Array.from({ length: count }, one));
  const tutors = (await people(3, () => make.tutor(organization.id))).map(({ id }) => id);
  const students = (await people(4, () => make.student(organization.id))).map(({ id }) => id);
  const lessons: Made[] = [];
  for (const [number, hour] of hours.entries()) {
    const startsAt = new Date(from.getTime() + hour * HOUR);
    const status = STATUSES[number % STATUSES.length]!;
    const tutorId = number % 7 === 3 ? null : tutors[number % 3]!;
    const who = [students[number % 4]!, ...(number % 3 ? [] : [students[(number + 2) % 4]!])];
    const one = { startsAt, endsAt: new Date(startsAt.getTime() + 1.5 * HOUR), status, tutorId, students: who, ...more(number) };
    const { students: taking, ...row } = one;
    const { id } = await make.session(organization.id, { ...row, overlapAllowed: true, durationMinutes: 90, studentId: null });
    for (const student of taking)
      await make.participant(organization.id, id, student, { status: row.status === 'cancelled' ? 'cancelled' : 'accepted' });
    lessons.push({ id, ...one });
  }
  const base = `/o/${organization.slug}/lessons`;
  const look = async (query: string) => (await portal.get(base + query, owner.cookie).expect(200)).text;
  /** The ids that all pages list, in their order. */
  const listed = async (query: string) => {
    const found: string[] = [];
    for (let at: string | undefined = query; at !== undefined;) {
      const text: string = await look(at);
      found.push(...[...text.matchAll(/nowrap">[^<]*<\/td><td><a href="[^"]*\/lessons\/([0-9a-f-]{36})"/g)].map(([, id]) => id!));
      at = /href="[^"?]*(\?[^"]*after=[^"]*)">(?:More lessons|Look further)</.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    return found;
  };
  return { organization, owner, tutors, lessons, base, look, listed };
}

const inOrder = (lessons: Made[], latest = false) =>
  lessons
    .toSorted((one, other) => (one.startsAt.getTime() - other.startsAt.getTime() || (one.id < other.id ? -1 : 1)) * (latest ? -1 : 1))
    .map(({ id }) => id);

describe('a day and a week', () => {
  it('list each lesson once, on the day of the organization’s clocks, all or of one tutor, and lead to the days around them', async () => {
    // Every 5 hours, from the Sunday before to the Tuesday after: across midnight, the change of the clocks and the ends of the week.
    const hours = Array.from({ length: 50 }, (_, number) => number * 5);
    const { tutors, lessons, look, listed, base } = await school(startOfDay(addDays(MONDAY, -1), ZONE), hours);
    const days = Array.from({ length: 10 }, (_, number) => addDays(MONDAY, number - 1));
    for (const tutor of [null, ...tutors]) {
      const of = tutor ? `&tutor=${tutor}` : '';
      const theirs = lessons.filter(({ tutorId }) => tutor === null || tutorId === tutor);
      for (const [state, are] of [
        ['', false],
        ['&state=cancelled', true],
      ] as const) {
        const shown = theirs.filter(({ status }) => (status === 'cancelled') === are);
        const on = (from: string, to: string) =>
          inOrder(shown.filter(({ startsAt }) => from <= dayOf(startsAt, ZONE) && dayOf(startsAt, ZONE) <= to));
        for (const day of days) {
          expect([day, await listed(`?from=${day}&view=day${of}${state}`)]).toEqual([day, on(day, day)]);
          const monday = addDays(day, -((dayOfWeek(day) + 6) % 7));
          expect([day, await listed(`?from=${day}${of}${state}`)]).toEqual([day, on(monday, addDays(monday, 6))]);
        }
      }
    }
    const text = await look(`?from=${MONDAY}&tutor=${tutors[0]}`);
    for (const from of ['2026-03-23', '2026-04-06', dayOf(new Date(), ZONE)])
      expect(text).toContain(`href="${base}?from=${from}&amp;tutor=${tutors[0]}"`);
    expect(await look('')).not.toContain('This week');
  });

  it('of 500 lessons weigh less than 60 KB a page, and list each once', async () => {
    const { organization, look, listed, tutors } = await school(new Date(), []);
    const long = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen';
    const student = await make.student(organization.id, { user: { firstName: long, lastName: long } });
    await make.query(`UPDATE users SET first_name = $1, last_name = $1 WHERE id = ANY ($2)`, [long, tutors]);
    const made = await make.rows('sessions', Array.from({ length: 500 }, (_, number) => {
      const startsAt = new Date(startOfDay(MONDAY, ZONE).getTime() + Math.floor(number / 5) * HOUR);
      return { organizationId: organization.id, tutorId: tutors[number % 3]!, title: long, status: 'scheduled' as const, overlapAllowed: true, startsAt, endsAt: new Date(startsAt.getTime() + HOUR), durationMinutes: 60 };
    })); // prettier-ignore
    for (const { id } of made.slice(0, 50)) await make.participant(organization.id, id, student.id, { status: 'accepted' });
    const found = await listed(`?from=${MONDAY}`);
    expect([found.length, new Set(found).size]).toEqual([500, 500]);
    expect(Buffer.byteLength(await look(`?from=${MONDAY}`))).toBeLessThan(40_000);
  });
});

describe('what needs somebody', () => {
  it('is listed as the stored lessons say: unassigned, clashing, to mark as done, completed', async () => {
    // Every 40 minutes from two days ago to two days ahead: most overlap their neighbors, of the same people or not.
    const hours = Array.from({ length: 90 }, (_, number) => (number - 45) * 0.67);
    const { lessons, tutors, listed } = await school(new Date(), hours, (number) => (number > 70 ? { status: 'scheduled' } : {}));
    const now = new Date();
    const open = lessons.filter(({ status, startsAt }) => (status === 'scheduled' || status === 'pending') && startsAt > now);
    const clashes = open.filter((one) =>
      lessons.some(
        (other) =>
          other !== one && other.status !== 'cancelled' && other.startsAt < one.endsAt && one.startsAt < other.endsAt &&
          ((one.tutorId !== null && other.tutorId === one.tutorId) || other.students.some((id) => one.students.includes(id))),
      ),
    ); // prettier-ignore
    const begun = (state: string) => lessons.filter(({ status, startsAt }) => status === state && startsAt <= now);
    const expected = { unassigned: inOrder(open.filter(({ tutorId }) => tutorId === null)), clashing: inOrder(clashes), due: inOrder(begun('scheduled'), true), completed: inOrder(begun('completed'), true) }; // prettier-ignore
    for (const [state, ids] of Object.entries(expected)) {
      expect(ids.length).toBeGreaterThan(3);
      expect([state, await listed(`?state=${state}`)]).toEqual([state, ids]);
      if (state === 'unassigned') continue;
      const own = lessons.filter(({ tutorId }) => tutorId === tutors[0]).map(({ id }) => id);
      expect([state, await listed(`?state=${state}&tutor=${tutors[0]}`)]).toEqual([state, ids.filter((id) => own.includes(id))]);
    }
    expect(clashes.length).toBeLessThan(open.length);
  });

  it('is for owners and admins alone', async () => {
    const { organization, base } = await school(new Date(), []);
    const tutor = await portal.someone('tutor', { organization });
    for (const query of ['', '?state=due']) await portal.get(base + query, tutor.cookie).expect(403);
  });
});

it('of very many tutors one is searched for by name', async () => {
  const { organization, look, listed, base } = await school(new Date(), []);
  for (let more = 0; more < 50; more++) await make.tutor(organization.id, { user: { firstName: 'Kim', lastName: `Number ${more}` } });
  const { id } = await make.tutor(organization.id, { user: { firstName: 'Zoë', lastName: 'Mensah' } });
  await make.session(organization.id, { tutorId: id, startsAt: new Date('2026-04-01T00:00:00Z'), endsAt: new Date('2026-04-01T01:00:00Z') });
  expect(await look('?from=2026-04-01')).not.toContain('<select id="tutor"');
  expect(await look('?from=2026-04-01&tutor_name=zoe')).toContain(`<a href="${base}?from=2026-03-30&amp;tutor=${id}">Zoë Mensah</a>`);
  expect((await look('?tutor_name=kim')).match(/>Kim Number \d+<\/a>/g)).toHaveLength(25);
  expect(await look('?tutor_name=nobody')).toContain('No tutor is called “nobody”.');
  expect(await listed(`?from=2026-04-01&tutor=${id}`)).toHaveLength(1);
});
