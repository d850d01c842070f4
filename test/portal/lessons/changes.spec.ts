import { addDays, dayOf, instantAt } from '@app/scheduling';
import { lessonOffice, ZONE } from '../../support/portal/lesson-office.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

describe('moving a lesson', () => {
  it.each([
    ['at a free time of the tutor', 0, '11:00', []],
    ['outside the weekly hours', 0, '19:00', [/^Outside the weekly hours of Sam Okafor/]],
    ['while the tutor is away', 1, '11:00', [/^Sam Okafor is away/]],
    ['while the tutor has another one', 2, '10:30', [/^Sam Okafor has another lesson/]],
    ['while the student has another one', 3, '10:30', [/^Ada Byron has another lesson/]],
    ['while both have', 4, '10:30', [/^Sam Okafor has another lesson/, /^Ada Byron has another lesson/]],
  ] as const)('%s is done at once, or after a second yes to exactly that', async (_, days, start, expected) => {
    const { lesson, lessons, when, stored, post, told, asked, child, sibling, at, audited } = await lessonOffice(portal);
    const other = (await make.tutor(at)).id;
    await lesson(2, '10:00', {}, [sibling.id]);
    await lesson(3, '10:00', { tutorId: other });
    await lesson(4, '10:00', {}, [sibling.id]);
    await lesson(4, '10:00', { tutorId: other }, [child.id]);
    const id = await lesson(0, '10:00');
    const path = `${lessons}/${id}/move`;
    const before = await stored(id);
    if (expected.length > 0) {
      const { text } = await post(path, when(days, start)).expect(200);
      const { lines, fields } = asked(text);
      expect(lines).toHaveLength(expected.length);
      for (const one of expected) expect(lines.some((line) => one.test(line))).toBe(true);
      expect([await stored(id), await audited()]).toEqual([before, []]);
      // A yes to something else is no yes.
      expect(asked((await post(path, { ...fields, anyway: 'x' }).expect(200)).text).lines).toEqual(lines);
      await post(path, fields).expect(303);
    } else expect(await told(path, when(days, start))).toEqual(['success', 'The lesson was saved.']);
    const { startsAt, endsAt } = (await stored(id)) as { startsAt: Date; endsAt: Date };
    const wanted = when(days, start);
    expect([startsAt, endsAt.getTime() - startsAt.getTime()]).toEqual([instantAt(wanted.day, start, ZONE), 3_600_000]);
    expect(await audited()).toEqual(['PUT /v1/sessions/:session_id']);
  });

  it('of several at once to the same time: one is moved, the others are asked', async () => {
    const { lesson, lessons, when, stored, post, child, sibling } = await lessonOffice(portal);
    const ids = await Promise.all([0, 1, 2, 3].map((n) => lesson(0, `1${n}:00`, {}, [n % 2 ? child.id : sibling.id])));
    const answers = await Promise.all(ids.map((id) => post(`${lessons}/${id}/move`, when(3, '10:00'))));
    const at = instantAt(when(3, '10:00').day, '10:00', ZONE).getTime();
    const moved = (await Promise.all(ids.map(stored))).filter((one) => (one as { startsAt: Date }).startsAt.getTime() === at);
    expect([moved.length, answers.every(({ status }) => status === 200 || status === 303)]).toEqual([1, true]);
  });

  it('gives one that waits to a tutor, and confirms it', async () => {
    const { lesson, lessons, when, stored, told, tutor } = await lessonOffice(portal);
    const id = await lesson(0, '10:00', { tutorId: null, status: 'pending' });
    await told(`${lessons}/${id}/move`, { ...when(0, '10:00'), tutor: tutor.id, confirm: 'yes' });
    expect(await stored(id)).toMatchObject({ tutorId: tutor.id, status: 'scheduled' });
  });

  it('with those that follow in its series, but for one that was changed on its own', async () => {
    const { lesson, lessons, when, stored, told, post, asked, at, tutor, monday, audited } = await lessonOffice(portal);
    const first = instantAt(monday, '10:00', ZONE);
    const series = await make.row('session_series', { organizationId: at, tutorId: tutor.id, startsAt: first, lastStartsAt: instantAt(addDays(monday, 21), '10:00', ZONE), durationMinutes: 60, everyWeeks: 1 }); // prettier-ignore
    const ids: string[] = [];
    for (const week of [0, 1, 2, 3]) ids.push(await lesson(7 * week, '10:00', { seriesId: series.id, seriesDetached: week === 2 }));
    const days = async () => (await Promise.all(ids.map(stored))).map((one) => dayOf((one as { startsAt: Date }).startsAt, ZONE));
    await told(`${lessons}/${ids[1]}/move`, { ...when(9, '11:00'), scope: 'following' });
    expect(await days()).toEqual([0, 9, 14, 23].map((day) => addDays(monday, day)));
    const { text } = await post(`${lessons}/${ids[1]}/move`, { ...when(9, '20:00'), scope: 'following' }).expect(200);
    expect(asked(text).lines).toHaveLength(2);
    await post(`${lessons}/${ids[1]}/move`, asked(text).fields).expect(303);
    expect(await audited()).toEqual(['PATCH /v1/session-series/:series_id', 'PATCH /v1/session-series/:series_id']);
    await told(`${lessons}/${ids[1]}/cancel`, { scope: 'following' });
    const states = (await Promise.all(ids.map(stored))).map((one) => (one as { status: string }).status);
    expect(states).toEqual(['scheduled', 'cancelled', 'cancelled', 'cancelled']);
  });

  it.each([
    [{ day: '2026-02-30' }, 422],
    [{ day: '' }, 422],
    [{ start: '25:00' }, 422],
    [{ minutes: '4' }, 422],
    [{ minutes: '721' }, 422],
    [{ minutes: '1e2' }, 422],
    [{ tutor: 'x' }, 400],
    [{ tutor: '018cc251-0000-7000-8000-000000000000' }, 404],
    [{ scope: 'all' }, 400],
  ])('refuses %o with %i, and changes nothing', async (typed, status) => {
    const { lesson, lessons, when, stored, post } = await lessonOffice(portal);
    const id = await lesson(0, '10:00');
    const before = await stored(id);
    expect((await post(`${lessons}/${id}/move`, { ...when(0, '10:00'), ...typed })).status).toBe(status);
    expect(await stored(id)).toEqual(before);
  });
});

it('no lesson ends beyond the year 9999', async () => {
  const { lesson, lessons, when, stored, refused } = await lessonOffice(portal);
  const id = await lesson(0, '10:00');
  const before = await stored(id);
  const wrong = await refused(`${lessons}/${id}/move`, { ...when(0, '23:30'), day: '9999-12-31', minutes: '720' });
  expect([Object.keys(wrong), await stored(id)]).toEqual([['minutes'], before]);
});

describe('canceling a lesson', () => {
  it.each([
    ['0', {}, 0],
    ['50', {}, 8_000],
    ['100', {}, 16_000],
    ['other', { percent: '33' }, 5_280],
  ] as const)('charges %s as its page says', async (charge, more, cents) => {
    const { lesson, lessons, look, told, post, stored, at, child, sibling } = await lessonOffice(portal);
    const id = await lesson(0, '10:00', {}, [child.id, sibling.id]);
    const form = await look(`${lessons}/${id}`);
    expect([form.includes('Half: $80.00'), form.includes('All: $160.00')]).toEqual([true, true]);
    expect(await told(`${lessons}/${id}/cancel`, { charge, reason: 'Ill', ...more })).toEqual(['success', 'The lesson was canceled.']);
    const [{ due }] = (await make.query(`SELECT coalesce(sum(amount_due_cents), 0)::int AS due FROM invoices WHERE organization_id = $1`, [at])) as [{ due: number }];
    expect([due, await stored(id)]).toEqual([cents, expect.objectContaining({ status: 'cancelled', cancellationReason: 'Ill' })]);
    expect(await look(`${lessons}/${id}`)).toContain(cents === 0 ? '<dd>Nothing</dd>' : `$${cents / 100}`);
    await post(`${lessons}/${id}/move`, { day: '2030-01-01', start: '10:00', minutes: '60' }).expect(303);
    expect((await stored(id)).status).toBe('cancelled');
  }); // prettier-ignore

  it('refuses what is no part, and a charge for several', async () => {
    const { lesson, lessons, refused, post, stored } = await lessonOffice(portal);
    const id = await lesson(0, '10:00');
    const path = `${lessons}/${id}/cancel`;
    for (const percent of ['', '101', '-1', 'x', '5.5']) expect(Object.keys(await refused(path, { charge: 'other', percent }))).toEqual(['percent']);
    expect(Object.keys(await refused(path, { charge: '50', scope: 'following' }))).toEqual(['percent']);
    expect(Object.keys(await refused(path, { reason: 'x'.repeat(501) }))).toEqual(['reason']);
    await post(path, { charge: '70' }).expect(400);
    expect((await stored(id)).status).toBe('scheduled');
  });
});

it('a lesson that was booked by mistake is deleted, and one that was billed is not', async () => {
  const { lesson, lessons, told, audited, at } = await lessonOffice(portal);
  const [wrong, billed] = [await lesson(0, '10:00'), await lesson(0, '12:00')];
  await told(`${lessons}/${billed}/cancel`, { charge: '100' });
  expect((await told(`${lessons}/${billed}/delete`))[0]).toBe('notice');
  expect(await told(`${lessons}/${wrong}/delete`)).toEqual(['success', 'The lesson was deleted.']);
  expect(await make.query('SELECT id FROM sessions WHERE organization_id = $1', [at])).toEqual([{ id: billed }]);
  expect(await audited()).toEqual(['POST /v1/sessions/:session_id/cancel', 'DELETE /v1/sessions/:session_id']);
});
