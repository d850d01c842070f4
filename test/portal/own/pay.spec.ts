import { randomUUID } from 'node:crypto';
import { lessonOffice } from '../../support/portal/lesson-office.js';
import { figures } from '../../support/portal/money-office.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

async function tutorOf() {
  const office = await lessonOffice(portal);
  const { at: organizationId, tutor, organization } = office;
  await make.query(`UPDATE members SET status = 'accepted' WHERE organization_id = $1`, [organizationId]);
  const cookie = await portal.session(tutor.id);
  const mine = `/my/${organization.slug}`;
  const get = (path: string, as = cookie) => portal.get(mine + path, as);
  const post = (path: string, fields: Record<string, string> = {}, as = cookie) =>
    portal.post(mine + path, { form_token: randomUUID(), ...fields }, as);
  return { ...office, organizationId, cookie, mine, get, post };
}

describe('what somebody earned', () => {
  it('is what the pay run shows of them: lessons with hours and pay, adjustments, payouts, claims; no price', async () => {
    const { organizationId, tutor, lesson, get, look } = await tutorOf();
    const startsAt = new Date('2026-03-10T05:00:00Z');
    await lesson(0, '10:00', { status: 'completed', startsAt, endsAt: new Date(+startsAt + 90 * 60_000), durationMinutes: 90, tutorPayCents: 7_500 });
    const earlier = new Date('2026-02-10T05:00:00Z');
    await lesson(0, '10:00', { status: 'completed', startsAt: earlier, endsAt: new Date(+earlier + 3_600_000), tutorPayCents: 5_000 });
    const of = { organizationId, tutorId: tutor.id };
    await make.row('adjustments', { ...of, periodStart: '2026-03-01', periodEnd: '2026-03-31', amountCents: -500, note: 'Keys' });
    await make.row('payouts', { ...of, amountCents: 4_000, currency: 'AUD', paidAt: new Date('2026-03-20T00:00:00Z') });
    await make.expense(organizationId, tutor.id, { status: 'approved', expenseDate: '2026-03-11', amountCents: 1_250, approvedAmountCents: 1_000 });
    // A colleague's is theirs.
    const colleague = await make.tutor(organizationId, { status: 'accepted' });
    await lesson(0, '10:00', {
      tutorId: colleague.id,
      status: 'completed',
      startsAt,
      endsAt: new Date(+startsAt + 3_600_000),
      tutorPayCents: 99_900,
    });
    const { text } = await get('/pay?month=2026-03');
    const shown = { 'Earned by lessons': '$75.00', Adjusted: '-$5.00', 'From before, less payouts': '$10.00' };
    expect(figures(text)).toMatchObject({ ...shown, 'Lessons held': '1, 1.5 h', 'Due on 31 Mar 2026': '$80.00' });
    expect(figures(await look(`/pay-run/${tutor.id}?month=2026-03`))).toMatchObject({ ...shown, Due: '$80.00' });
    for (const said of ['10 Mar 2026', 'Algebra', '1.5 h', 'Keys', '$40.00', '20 Mar 2026', 'Approved, not reimbursed yet', '$10.00']) expect(text).toContain(said); // prettier-ignore
    expect(text).not.toMatch(/999\.00|80\.00 for|120\.00|Byron/);
    expect(figures((await get('/pay?month=nonsense')).text)).toMatchObject({ 'Lessons held': '0, 0 h' });
  });

  it('is shown a page at a time', async () => {
    const { lesson, get } = await tutorOf();
    for (let n = 0; n < 27; n++) {
      const startsAt = new Date(Date.parse('2026-03-01T00:00:00Z') + n * 86_400_000);
      await lesson(0, '10:00', { status: 'completed', startsAt, endsAt: new Date(+startsAt + 3_600_000), tutorPayCents: 100 }, []);
    }
    const rows = (html: string) => html.match(/data-label="Pay"/g)?.length ?? 0;
    const first = (await get('/pay?month=2026-03')).text;
    const next = /\/pay(\?month=2026-03&amp;after=[^"]+)"/.exec(first)![1]!.replaceAll('&amp;', '&');
    expect([rows(first), rows((await get(`/pay${next}`)).text)]).toEqual([25, 2]);
  });

  it('is no page for students and parents, nor for anybody elsewhere', async () => {
    const { child, parent, get, organizationId } = await tutorOf();
    await make.query(`UPDATE parents SET status = 'accepted' WHERE organization_id = $1`, [organizationId]);
    const elsewhere = await portal.someone('tutor');
    for (const path of ['/pay', '/hours', '/claims', '/claims/expense', '/claims/trip']) {
      const answers = [child.id, parent.id, elsewhere.user.id].map(async (id) => (await get(path, await portal.session(id))).status);
      expect([path, await Promise.all(answers)]).toEqual([path, [403, 403, 404]]);
    }
  });
});

describe('one’s own hours', () => {
  it('are added and removed, and so is time off; the audit log names whoever did it', async () => {
    const { organizationId, tutor, get, post, audited } = await tutorOf();
    const hours = () => make.query<{ id: string; start_time: string }>(`SELECT id, start_time FROM availabilities WHERE organization_id = $1 AND day_of_week = 6`, [organizationId]); // prettier-ignore
    expect((await get('/hours')).text).toContain('<h1>My hours</h1>');
    expect((await post('/hours', { days: '6', start_time: '12:00', end_time: '09:00' })).status).toBe(422);
    await post('/hours', { days: '6', start_time: '09:00', end_time: '12:00' }).expect(303);
    const [added] = await hours();
    expect((await get('/hours')).text).toContain('<strong>Saturday</strong> 09:00–12:00');
    await post('/hours', { remove: added!.id }).expect(303);
    expect(await hours()).toEqual([]);
    await post('/hours/time-off', { starts_on: '2099-01-01', ends_on: '', note: '' }).expect(303);
    expect(await make.query(`SELECT FROM time_off WHERE organization_id = $1 AND starts_on = '2099-01-01'`, [organizationId])).toHaveLength(1);
    expect(await make.query('SELECT FROM audit_log WHERE organization_id = $1 AND network IS NOT NULL', [organizationId])).toEqual([]);
    expect(await audited()).toEqual([...Array<string>(2).fill('PUT /v1/tutors/:tutor_id/availabilities'), 'PUT /v1/tutors/:tutor_id/time-off']);
    await make.query(`UPDATE members SET role = 'student' WHERE organization_id = $1 AND user_id = $2`, [organizationId, tutor.id]);
    expect((await post('/hours', { days: '6', start_time: '09:00', end_time: '12:00' })).status).toBe(403);
  });
});
