import { CalendarFixture } from '../support/data/calendar-fixture.js';
import { fixture } from '../support/process/fixture.js';
import { FamilyPost } from '../support/worker/family-post.js';
import { FamilyRound, zoneAt } from '../support/worker/family-round.js';

const post = await fixture(FamilyPost.open());
const { api } = post;
const { make } = api;
const round = new FamilyRound(post);
const KINDS = ['lessons_booked', 'lessons_moved', 'lessons_cancelled'];
const [HOUR, DAY] = [3_600_000, 86_400_000];
/** A whole hour so many days from now. */
const inDays = (days: number, hours = 0) => new Date(Math.ceil(Date.now() / HOUR) * HOUR + days * DAY + hours * HOUR).toISOString();

let at: CalendarFixture, parent: string, other: string;
const switched = (...kinds: string[]) =>
  make.query('INSERT INTO family_switches (organization_id, kind) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING', [at.school, kinds]);
const addressOf = async (id: string) => (await make.query<{ email: string }>('SELECT email FROM users WHERE id = $1', [id]))[0]!.email;
const named = (id: string, first: string, last: string) =>
  make.query('UPDATE users SET first_name = $2, last_name = $3 WHERE id = $1', [id, first, last]);

beforeEach(async () => {
  at = await CalendarFixture.open(api);
  const [s1, s2, s3] = at.students;
  parent = (await make.parent(at.school, { children: [s1, s2] })).id;
  other = (await make.parent(at.school, { children: [s3] })).id;
  await named(at.t1, 'Tilly', 'Doyle');
  await named(s1, 'Hana', 'Sato');
  await named(parent, 'Mio', 'Sato');
});
afterEach(async () => {
  await make.query('DELETE FROM family_switches');
  await make.query('DELETE FROM outbox');
  post.received();
});

/** Whoever was told something, and what. */
const readers = async (passes: ReturnType<FamilyRound['pass']>) =>
  Object.fromEntries((await passes).map(({ to, lines }) => [to, lines.map((line) => line.split(':')[0])]));

describe('news of lessons', () => {
  it('says nothing of what was booked before, and nothing at all while it is off', async () => {
    await at.book(inDays(3));
    expect(await round.pass()).toEqual([]);
    await switched(...KINDS);
    expect(await round.pass()).toEqual([]);
    // Nor of what happens while it is off again, or comes by an import.
    await make.query('UPDATE family_rounds SET position = NULL WHERE organization_id = $1', [at.school]);
    await at.book(inDays(4));
    expect(await round.pass()).toEqual([]);
    await at.book(inDays(5));
    expect(await round.pass()).toHaveLength(2);
  });

  it('tells tutor and parent, each what they may know, and nobody else', async () => {
    await switched(...KINDS);
    await round.look();
    await at.book(inDays(3));
    const mails = await round.pass();
    expect(mails.map(({ to }) => to).sort()).toEqual([await addressOf(at.t1), await addressOf(parent)].sort());
    for (const { subject, lines, mail } of mails) {
      expect(subject).toMatch(/^A lesson was booked at /);
      expect(lines).toHaveLength(1);
      expect(mail.headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click');
      expect(mail.headers['list-unsubscribe']).toMatch(/^<http.*\/mails\/[0-9a-f-]{36}>$/);
    }
    const family = mails.find(({ mail }) => mail.text.startsWith('Hello Mio'))!;
    expect(family.lines[0]).toMatch(/^Booked: Lesson with Tilly D\. for Hana, \w+ \d+ \w+, \d+:00 [ap]m to \d+:00 [ap]m AE[SD]T$/);
    expect(mails.find((one) => one !== family)!.lines[0]).not.toMatch(/Hana|Tilly/);
  });

  it('gathers a series into one mail, and what changes within ten minutes into how it is now', async () => {
    await switched(...KINDS);
    await round.look();
    const series = await at.send<{ sessions: { id: string }[] }>('post', '/v1/session-series', {
      ...{ tutor_id: at.t1, student_id: at.students[0], starts_at: inDays(3), duration_minutes: 60, every_weeks: 1, count: 10 },
    });
    expect(series.status).toBe(201);
    const mails = await round.pass();
    expect(mails.map(({ lines }) => lines.length)).toEqual([10, 10]);
    const { id } = (await at.book(inDays(20))).body;
    await round.look();
    await at.put(id, { starts_at: inDays(21) });
    await round.look();
    await at.put(id, { starts_at: inDays(22), duration_minutes: 60 });
    const told = await round.pass();
    expect(told.map(({ lines }) => lines.map((line) => line.split(':')[0]))).toEqual([['Booked'], ['Booked']]);
    const day = new Intl.DateTimeFormat('en-AU', { day: 'numeric', month: 'long', timeZone: 'Australia/Melbourne' }).format(new Date(inDays(22)));
    for (const { lines } of told) expect(lines[0]).toContain(day);
  });

  it('says what was moved, and nothing of what was moved there and back', async () => {
    await switched(...KINDS);
    await round.look();
    const { id } = (await at.book(inDays(5))).body;
    await round.pass();
    await at.put(id, { starts_at: inDays(6) });
    await round.look();
    await at.put(id, { starts_at: inDays(5) });
    expect(await round.pass()).toEqual([]);
    await at.put(id, { starts_at: inDays(7) });
    const moved = await round.pass();
    expect(moved.map(({ subject }) => subject.replace(/ at .*/, ''))).toEqual(['A lesson was changed', 'A lesson was changed']);
    for (const { lines } of moved) expect(lines[0]).toMatch(/^Changed: .*\. It was \w+ \d+ \w+, /);
    // To another tutor: whoever taught it is told that it is off.
    await at.put(id, { tutor_id: at.t2 });
    expect(await readers(round.pass())).toEqual({
      [await addressOf(at.t1)]: ['Cancelled'],
      [await addressOf(at.t2)]: ['Booked'],
      [await addressOf(parent)]: ['Changed'],
    });
  });

  it.each(['cancelled', 'deleted'])('says at once that a lesson of the next hours is %s', async (how) => {
    await switched(...KINDS);
    await round.look();
    const { id } = (await at.book(inDays(0, 3))).body;
    await round.look();
    await round.sent();
    if (how === 'deleted') await at.delete(`/v1/sessions/${id}`);
    else await at.send('post', `/v1/sessions/${id}/cancel`);
    await round.look();
    expect((await round.sent()).map(({ subject }) => subject.replace(/ at .*/, ''))).toEqual(['A lesson was cancelled', 'A lesson was cancelled']);
    expect(await round.pass()).toEqual([]);
  });

  it('says nothing of a lesson once it has begun', async () => {
    await switched(...KINDS);
    await round.look();
    const { id } = (await at.book(inDays(0, 1))).body;
    await round.pass();
    await make.query(`UPDATE sessions SET starts_at = starts_at - interval '3 hours', ends_at = ends_at - interval '3 hours' WHERE id = $1`, [id]);
    expect(await round.pass()).toEqual([]);
    await at.send('post', `/v1/sessions/${id}/cancel`);
    expect(await round.pass()).toEqual([]);
  });

  it('tells parents of their own children, and nobody who has nothing to do with it any more', async () => {
    await switched(...KINDS);
    await round.look();
    const [s1, , s3] = at.students;
    const { id } = (await at.book(inDays(4), { student_ids: [s1, s3] })).body;
    const told = await round.pass();
    expect(told).toHaveLength(3);
    for (const { to, mail } of told) if (to !== (await addressOf(parent))) expect(mail.text).not.toContain('Hana');
    await make.query('DELETE FROM parent_students WHERE parent_id = $1', [other]);
    await at.put(id, { student_ids: [s1] });
    expect(await readers(round.pass())).toEqual({});
    await at.put(id, { starts_at: inDays(8) });
    expect(Object.keys(await readers(round.pass())).sort()).toEqual([await addressOf(at.t1), await addressOf(parent)].sort());
  });

  it('does not mail who has switched it off, nor an address that is not theirs any more', async () => {
    await switched(...KINDS);
    await round.look();
    await at.book(inDays(4));
    await round.look();
    const optOut = `INSERT INTO mail_opt_outs (organization_id, address, kind) VALUES ($1, lower($2), 'lessons')`;
    await make.query(optOut, [at.school, await addressOf(parent)]);
    await make.query(`UPDATE outbox SET recipient = 'former@example.org' WHERE about_id = $1`, [at.t1]);
    await round.later();
    expect(await round.sent()).toEqual([]);
    await at.book(inDays(9));
    expect(Object.keys(await readers(round.pass()))).toEqual([await addressOf(at.t1)]);
  });

  it('tells by a second mail what changes while the first is on its way, even back to what it was before', async () => {
    await switched(...KINDS);
    await round.look();
    const { id } = (await at.book(inDays(4))).body;
    const family = await addressOf(parent);
    await round.pass();
    await at.put(id, { starts_at: inDays(6) });
    await round.look();
    await round.later();
    let go!: () => void;
    const until = new Promise<void>((resolve) => (go = resolve));
    const arrived = new Promise<void>((resolve) => {
      post.smtp.atMessage = (address) => {
        if (address !== family) return undefined;
        resolve();
        return { until };
      };
    });
    const first = round.sent();
    await arrived;
    await at.put(id, { starts_at: inDays(4) });
    await round.look();
    go();
    post.smtp.atMessage = () => undefined;
    const told = [...(await first), ...(await round.pass())].filter(({ to }) => to === family).flatMap(({ lines }) => lines);
    const dayOf = (days: number) =>
      new Intl.DateTimeFormat('en-AU', { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'Australia/Melbourne' }).format(
        new Date(inDays(days)),
      );
    expect(told.map((line) => line.replace(/, \d+:\d\d.*\. It was/, '. It was').replace(/, \d+:\d\d.*/, ''))).toEqual([
      `Changed: Lesson with Tilly D. for Hana, ${dayOf(6)}. It was ${dayOf(4)}`,
      `Changed: Lesson with Tilly D. for Hana, ${dayOf(4)}. It was ${dayOf(6)}`,
    ]);
  });

  it('says how it is once more if its worker was killed as the server took the mail, and it is as it was', async () => {
    await switched(...KINDS);
    await round.look();
    const family = await addressOf(parent);
    const [moved, cancelled] = [(await at.book(inDays(4))).body, (await at.book(inDays(5))).body];
    await round.pass();
    await at.put(moved.id, { starts_at: inDays(6) });
    await at.send('post', `/v1/sessions/${cancelled.id}/cancel`);
    await round.look();
    await round.later();
    // All that is stored when the server has the mail, and nothing of what is stored after it.
    await make.query('CREATE TABLE IF NOT EXISTS taken AS SELECT * FROM lesson_tellings WHERE false');
    post.smtp.atMessage = (address) =>
      address === family
        ? { until: make.query('INSERT INTO taken SELECT * FROM lesson_tellings WHERE organization_id = $1', [at.school]) }
        : undefined;
    const [first] = (await round.sent()).filter(({ to }) => to === family);
    post.smtp.atMessage = () => undefined;
    await make.query('DELETE FROM lesson_tellings WHERE organization_id = $1', [at.school]);
    await make.query('INSERT INTO lesson_tellings SELECT * FROM taken');
    await make.query('DROP TABLE taken');
    const [, message] = /^<([0-9a-f-]{36})/.exec(first!.mail.headers['message-id']!)!;
    await make.query(`UPDATE outbox SET status = 'queued', finished_at = NULL WHERE id = $1`, [message]);
    await at.put(moved.id, { starts_at: inDays(4) });
    const lines = (await round.pass()).filter(({ to }) => to === family).flatMap((one) => one.lines);
    const day = (days: number) => new Intl.DateTimeFormat('en-AU', { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'Australia/Melbourne' }).format(new Date(inDays(days))); // prettier-ignore
    expect(first!.lines).toHaveLength(2);
    expect(lines.map((line) => line.replaceAll(/, \d+:\d\d [ap]m to \d+:\d\d [ap]m AE[SD]T/g, ''))).toEqual([
      `Changed: Lesson with Tilly D. for Hana, ${day(4)}. It was ${day(6)}.`,
      `Cancelled: Lesson with Tilly D. for Hana, ${day(5)}`,
    ]);
  });

  it('says where it is: the link to both, the place to the family, and never a street', async () => {
    await switched(...KINDS);
    await round.look();
    const place = await make.row('locations', { organizationId: at.school, label: 'Library', suburb: 'Fitzroy' });
    await at.book(inDays(4), { mode: 'online', meeting_url: 'https://meet.example.org/tilly' });
    await at.book(inDays(5), { mode: 'in_person', location_id: place.id });
    const told = await round.pass();
    const family = await addressOf(parent);
    for (const { to, lines } of told) {
      expect(lines[0]).toContain('online (https://meet.example.org/tilly), ');
      expect(lines[1]).toContain(to === family ? ' for Hana in person at Library, Fitzroy, ' : 'Lesson in person, ');
    }
    expect(told).toHaveLength(2);
  });

  it('switches off one kind by itself', async () => {
    await switched('lessons_cancelled');
    await round.look();
    const { id } = (await at.book(inDays(4))).body;
    await round.pass();
    await at.put(id, { starts_at: inDays(5) });
    expect(await round.pass()).toEqual([]);
    await at.send('post', `/v1/sessions/${id}/cancel`);
    expect((await round.pass()).map(({ lines }) => lines[0]!.split(':')[0])).toEqual(['Cancelled', 'Cancelled']);
  });
});

describe('the evening before', () => {
  const tomorrow = (hour: number, zone: string) => {
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(Date.now() + DAY);
    const [, sign, hours] = /GMT([-+])(\d+)/.exec(zone) ?? ['', '-', '0'];
    return new Date(Date.parse(`${day}T00:00:00Z`) + (hour - (sign === '-' ? 1 : -1) * Number(hours)) * HOUR).toISOString();
  };

  it('lists the lessons of tomorrow once, as they are when it is sent', async () => {
    const zone = zoneAt(18);
    await make.query('UPDATE organizations SET time_zone = $2 WHERE id = $1', [at.school, zone]);
    await at.book(tomorrow(9, zone));
    const { id } = (await at.book(tomorrow(15, zone))).body;
    await at.book(tomorrow(33, zone));
    await switched('lessons_tomorrow');
    await round.look();
    await at.send('post', `/v1/sessions/${id}/cancel`);
    const mails = await round.sent();
    expect(mails.map(({ to }) => to).sort()).toEqual([await addressOf(at.t1), await addressOf(parent)].sort());
    for (const { lines, subject } of mails) {
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/^9:00 am to 10:00 am .*: Lesson/);
      expect(subject).toMatch(/^Lesson tomorrow, \w+day \d+ \w+$/);
    }
    await round.look();
    expect(await round.sent()).toEqual([]);
  });

  it('is dropped if the allowance is used up, and owners are told', async () => {
    const zone = zoneAt(19);
    await make.query('UPDATE organizations SET time_zone = $2 WHERE id = $1', [at.school, zone]);
    await make.member(at.school, { role: 'owner', status: 'accepted' });
    for (const [index, student_id] of at.students.entries()) await at.book(tomorrow(9 + index, zone), { student_id });
    await make.query(
      `INSERT INTO outbox (id, organization_id, topic, kind, recipient, email_normalized, about_id, unproven, family_at, status, finished_at)
        SELECT gen_random_uuid(), $1, 'email', 'invoice', 'a@example.org', 'a@example.org', gen_random_uuid(), true, now() - interval '1 hour', 'sent', now()
        FROM generate_series(1, 200)`,
      [at.school],
    );
    await switched('lessons_tomorrow');
    await round.look();
    expect((await round.sent()).map(({ subject }) => subject)).toEqual([expect.stringMatching(/^Emails to families of .* wait$/)]);
  });

  it.each([17, 21])('is not told at %i o’clock', async (hour) => {
    const zone = zoneAt(hour);
    await make.query('UPDATE organizations SET time_zone = $2 WHERE id = $1', [at.school, zone]);
    await at.book(tomorrow(9, zone));
    await switched('lessons_tomorrow');
    await round.look();
    expect(await round.sent()).toEqual([]);
  });
});
