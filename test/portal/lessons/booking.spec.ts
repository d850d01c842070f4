import { randomUUID } from 'node:crypto';
import { addDays, dayOf, instantAt } from '@app/scheduling';
import { axeFaults, TestBrowser } from '../../support/portal/browser.js';
import { lessonOffice, ZONE } from '../../support/portal/lesson-office.js';
import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const portal = await TestPortal.shared();
const browser = await fixture(TestBrowser.start());
const { make } = portal;

/** The office, with what is asked for a lesson of Ada with Sam on a Monday at 10:00, and the lessons that are booked. */
async function room() {
  const office = await lessonOffice(portal);
  const path = `${office.lessons}/new`;
  const ask = (more: Record<string, string> = {}) => {
    const asked = { student: office.child.id, tutor: office.tutor.id, day: office.monday, start: '10:00', minutes: '60', ...more };
    return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ''));
  };
  const query = (asked: Record<string, string>) => `${path}?${new URLSearchParams(asked).toString()}`;
  const check = (more: Record<string, string> = {}) => office.look(query({ ...ask(more), check: 'yes' }));
  const booked = () =>
    make.query<{ id: string; starts_at: Date; tutor_id: string; status: string; series_id: string | null }>(
      'SELECT id, starts_at, tutor_id, status, series_id FROM sessions WHERE organization_id = $1 ORDER BY starts_at',
      [office.at],
    );
  return { ...office, path, ask, query, check, booked };
}

describe('booking a lesson', () => {
  it('shows the price as it will be, and books what its page says, once', async () => {
    const { at, check, post, path, asked, booked, child, tutor, monday, audited } = await room();
    await make.row('rate_cells', { organizationId: at, studentRateCents: 8_000, inpersonSurchargeCents: 1_050, sessionKind: '1on1_inperson' });
    expect(await check({ minutes: '90' })).toContain('No price is set: nobody will be billed.');
    const page = await check({ minutes: '90', mode: 'in_person' });
    expect([page.includes('$130.50'), page.includes('In the way'), await booked()]).toEqual([true, false, []]);
    const { fields } = asked(page);
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(path, fields)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    const [one, ...others] = await booked();
    expect([one, others]).toEqual([expect.objectContaining({ starts_at: instantAt(monday, '10:00', ZONE), tutor_id: tutor.id, status: 'scheduled', series_id: null }), []]);
    const seats = await make.query('SELECT student_id, rate_cents::int AS rate, surcharge_cents::int AS surcharge FROM lesson_participants WHERE session_id = $1', [one!.id]);
    expect(seats).toEqual([{ student_id: child.id, rate: 8_000, surcharge: 1_050 }]);
    expect(await audited()).toEqual(['POST /v1/sessions']);
  }); // prettier-ignore

  it.each([{ every: '' }, { every: '1' }])('answers a booking request, which leads there: %o', async ({ every }) => {
    const { at, look, lessons, child, tutor, monday, check, post, path, asked, booked } = await room();
    const { id } = await make.row('booking_requests', { organizationId: at, studentId: child.id, durationMinutes: 45 });
    const request = `${lessons.replace('/lessons', '/enquiries/requests')}/${id}`;
    const query = new URLSearchParams({ request: id, student: child.id, tutor: tutor.id, minutes: '45' });
    expect(await look(request)).toContain(`${path}?${query.toString().replaceAll('&', '&amp;')}`);
    const until = every ? addDays(monday, 14) : '';
    const { fields } = asked(await check({ ...Object.fromEntries(query), every, until }));
    await post(path, fields);
    const [first] = await booked();
    expect(await make.find('booking_requests', id)).toMatchObject({ status: 'matched', matchedSessionId: first!.id });
    // Once is enough, and nobody else's is answered.
    const again = await post(path, { ...fields, form_token: randomUUID(), day: addDays(monday, 2), at: '', start: '12:00' });
    expect([again.status, (await booked()).length]).toEqual([303, every ? 3 : 1]);
    const foreign = await make.row('booking_requests', { organizationId: (await make.organization()).id });
    const refused = await post(path, { ...fields, form_token: randomUUID(), request: foreign.id, day: addDays(monday, 3), at: '', start: '13:00' });
    expect([refused.status, (await booked()).length]).toEqual([404, every ? 3 : 1]);
  });

  it('offers free times first, each of which can be booked without another question', async () => {
    const { ask, query, look, lesson, check, monday, sibling } = await room();
    await lesson(0, '11:00', {}, [sibling.id]);
    const form = await look(query(ask({ day: '', start: '', from: monday })));
    const offered = [...form.matchAll(/name="at" value="([^"]+)"/g)].map(([, at]) => at!);
    expect(offered.length).toBeGreaterThan(20);
    expect(offered[0]).toBe(instantAt(monday, '09:00', ZONE).toISOString());
    for (const at of offered) {
      const page = await check({ day: '', start: '', at });
      expect([at, page.includes('Book this lesson?'), page.includes('In the way')]).toEqual([at, true, false]);
    }
    // The tutor is away on Tuesday.
    expect(new Set(offered.map((at) => dayOf(new Date(at), ZONE)))).toEqual(new Set([0, 2, 3].map((days) => addDays(monday, days))));
  });

  it('names what is in the way, and books after a yes to exactly that', async () => {
    const { lesson, check, post, path, asked, booked, ask } = await room();
    await lesson(0, '10:30');
    const page = await check();
    const { lines, fields } = asked(page);
    expect(lines).toHaveLength(2);
    // Without the yes, it asks again and books nothing.
    const again = asked((await post(path, ask()).expect(200)).text);
    expect([again.lines, (await booked()).length]).toEqual([lines, 1]);
    // Something else gets in the way meanwhile.
    await lesson(0, '10:15');
    const more = asked((await post(path, fields).expect(200)).text);
    expect([more.lines.length, (await booked()).length]).toEqual([4, 2]);
    await post(path, more.fields).expect(303);
    expect(await booked()).toHaveLength(3);
  });

  it('of several at once for the same time: one is booked, the others are asked or told', async () => {
    const { post, path, ask, booked, child, sibling } = await room();
    const who = [child.id, sibling.id, child.id, sibling.id];
    const answers = await Promise.all(who.map((student) => post(path, ask({ student }))));
    expect([answers.every(({ status }) => status === 200 || status === 303), (await booked()).length]).toEqual([true, 1]);
  });

  it('repeats by the clock on the wall until a day, all or nothing', async () => {
    const { check, post, path, asked, booked, lesson, monday, audited } = await room();
    const weekly = { every: '2', until: addDays(monday, 70) };
    const page = await check(weekly);
    expect(page).toContain('Book 6 lessons?');
    await lesson(28, '10:30');
    const { lines, fields } = asked(await check(weekly));
    expect(lines).toHaveLength(2);
    expect([(await post(path, asked(page).fields)).status, (await booked()).length]).toEqual([200, 1]);
    await post(path, fields).expect(303);
    const series = (await booked()).filter(({ series_id: id }) => id !== null);
    expect(series.map(({ starts_at: startsAt }) => startsAt)).toEqual(
      [0, 14, 28, 42, 56, 70].map((days) => instantAt(addDays(monday, days), '10:00', ZONE)),
    );
    expect([new Set(series.map(({ series_id: id }) => id)).size, await audited()]).toEqual([1, ['POST /v1/session-series']]);
  });

  it('is for a group too, at its price', async () => {
    const { at, check, post, path, asked, booked, child, sibling } = await room();
    const group = await make.row('student_groups', { organizationId: at, ownerOrganizationId: at, name: 'Olympiad', ratePerStudentCents: 3_000 });
    for (const { id } of [child, sibling]) await make.query(`INSERT INTO student_group_members (id, group_id, user_id, role) VALUES (gen_random_uuid(), $1, $2, 'student')`, [group.id, id]);
    const page = await check({ student: '', group: group.id });
    expect([page.match(/\$30\.00/g)?.length, page.includes('$60.00')]).toEqual([2, true]);
    await post(path, asked(page).fields).expect(303);
    expect(await booked()).toHaveLength(1);
  }); // prettier-ignore
});

it('refuses what no page offers, and says what is wrong with what is typed, for its page and its form alike', async () => {
  const { ask, query, path, post, owner, booked } = await room();
  const [id, foreign] = ['018cc251-0000-7000-8000-000000000000', await lessonOffice(portal)];
  const cases: [Record<string, string>, number][] = [
    ...['x', '\u{1F600}'].flatMap((wrong) => ['student', 'tutor', 'subject', 'mode', 'every'].map((name): [Record<string, string>, number] => [{ [name]: wrong }, 400])),
    ...['student', 'tutor', 'subject'].map((name): [Record<string, string>, number] => [{ [name]: id }, 404]),
    [{ student: foreign.child.id }, 404], [{ tutor: foreign.tutor.id }, 404], [{ student: '', group: id }, 404], [{ student: '', classroom: id }, 404],
    ...['4', '721', 'x', '1e2', '-60', '9'.repeat(30)].map((minutes): [Record<string, string>, number] => [{ minutes }, 422]),
    [{ day: '2026-02-30' }, 422], [{ start: '25:00' }, 422], [{ day: '', start: '' }, 422], [{ start: '', at: 'x' }, 422], [{ start: '', at: '2030-01-01T00:00:30Z' }, 422],
    [{ every: '1' }, 422], [{ every: '1', until: '2000-01-01' }, 422], [{ every: '1', until: '9999-12-31' }, 422], [{ every: '5', until: '2030-01-01' }, 400],
    [{ title: 'x'.repeat(201) }, 422], [{ day: '9999-12-31', start: '23:30', minutes: '720' }, 422],
  ]; // prettier-ignore
  for (const [wrong, status] of cases) {
    const form = await post(path, ask(wrong));
    const page = await portal.get(query({ ...ask(wrong), check: 'yes' }), owner.cookie);
    expect([wrong, form.status, page.status]).toEqual([wrong, status, status]);
  }
  expect(await booked()).toEqual([]);
});

it.each([
  { width: 1440, colorScheme: 'light', javaScript: true },
  { width: 390, colorScheme: 'dark', javaScript: false },
] as const)('an owner books a term of lessons, moves one and cancels one, at $width px, with JavaScript: $javaScript', async (look) => {
  const { owner, lessons, at, monday } = await room();
  await make.row('rate_cells', { organizationId: at, studentRateCents: 8_000 });
  const page = await browser.visit(portal, { cookie: owner.cookie, ...look });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const arrive = async (heading: string | RegExp) => {
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect([heading, beyond, look.javaScript ? await axeFaults(page) : []]).toEqual([heading, 0, []]);
  };
  await page.goto(lessons);
  await page.getByRole('link', { name: 'Book a lesson' }).click();
  await arrive('Book a lesson');
  await page.getByLabel('Student’s name or address').fill('ada byr');
  await press('Find');
  await page.getByRole('link', { name: 'Ada Byron' }).click();
  await page.getByRole('link', { name: 'Sam Okafor' }).click();
  await arrive('Book a lesson for Ada Byron');
  await page.getByLabel('Free times from').fill(monday);
  await press('Show free times');
  await page.getByLabel('4:00 pm').first().check();
  await page.getByLabel('Repeats').selectOption('Every week');
  await press('Continue');
  expect(await page.title()).toMatch(/^Error: /);
  await page.getByLabel('Until').fill(addDays(monday, 63));
  await press('Continue');
  await arrive('Book 10 lessons?');
  await press('Book 10 lessons');
  await arrive('Lessons');
  await page.getByRole('link', { name: 'Lesson', exact: true }).click();
  await page.getByText('Move, or another tutor').click();
  await page.getByLabel('Begins at').fill('20:00');
  await press('Save the lesson');
  await arrive('Move the lesson?');
  await press('Move anyway');
  await arrive(/^Lesson/);
  await page.getByText('Cancel …').click();
  await page.getByLabel('Half: $40.00').check();
  await press('Cancel the lesson');
  await arrive(/^Lesson Canceled/);
  await page.getByText('50%, $40.00').waitFor();
  await page.context().close();
});

it('a booking without a token, or of somebody who is no manager, is refused', async () => {
  const { organization, path, ask, owner, booked, lessons } = await room();
  await portal.post(path, ask(), owner.cookie).expect(400);
  const tutor = await portal.someone('tutor', { organization });
  await portal.post(path, { ...ask(), form_token: randomUUID() }, tutor.cookie).expect(403);
  await portal.get(`${lessons}/new`, tutor.cookie).expect(403);
  expect(await booked()).toEqual([]);
});
