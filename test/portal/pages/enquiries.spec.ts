import { randomUUID } from 'node:crypto';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

const joining = await JoinFixture.shared();
const { make } = joining.portal;
const pages = await PeoplePages.open(joining);
const organizationId = pages.provisioning.id;
const base = pages.base.replace(/\/people$/, '/enquiries');
const textOf = async (path: string) => (await pages.owner.get(`${base}${path}`)).text;
const lead = (more: object = {}) => make.row('leads', { organizationId, name: 'Priya Sharma', email: 'priya@example.org', ...more });

describe('enquiries', () => {
  it('are listed by state, page by page', async () => {
    expect(await textOf('')).toContain('Nobody has asked yet');
    const { id } = await lead({ subject: 'Year 11 <Methods>', notes: 'Mondays' });
    await lead({ name: 'Somebody Else', status: 'lost' });
    const all = await textOf('');
    for (const text of ['Priya Sharma', 'Somebody Else', 'Year 11 &lt;Methods&gt;']) expect(all).toContain(text);
    for (const text of ['Priya Sharma', 'Year 11 &lt;Methods&gt;', 'Mondays', 'priya@example.org'])
      expect(await textOf(`/leads/${id}`)).toContain(text);
    expect(await textOf('?status=lost')).not.toContain('Priya Sharma');
    expect(await textOf('?status=won')).toContain('Priya Sharma');
    for (let more = 0; more < 21; more++) await lead({ name: `Nobody ${more}`, status: 'contacted' });
    const next = /href="([^"]+after=[^"]+)"/.exec(await textOf('?status=contacted'))![1]!.replaceAll('&amp;', '&');
    const second = (await pages.owner.get(next)).text;
    expect(second.match(/Nobody \d+/g)).toContain('Nobody 0');
    expect(second).not.toContain('Nobody 20');
  });

  it('lead to the page that invites a student, with what is known', async () => {
    const { id } = await lead({ name: 'Mai Anh Nguyen', email: 'mai+1@example.org', phone: '+61 3 5550 1234' });
    const link = `${pages.base}/invite?lead=${id}`;
    expect(await textOf('?status=new')).toContain(`href="${base}/leads/${id}"`);
    const shown = await textOf(`/leads/${id}`);
    for (const known of [link, 'mailto:mai+1@example.org', 'tel:+61355501234']) expect(shown).toContain(`href="${known}"`);
    const { text } = await pages.owner.get(link);
    for (const known of ['Mai', 'Anh Nguyen', 'mai+1@example.org', '+61 3 5550 1234']) expect(text).toContain(`value="${known}"`);
    const other = await make.row('leads', { organizationId: (await make.organization()).id, name: 'Foreign' });
    const wrong = [other.id, randomUUID(), 'x', ''].map((one) => pages.owner.get(`${pages.base}/invite?lead=${one}`));
    expect((await Promise.all(wrong)).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });

  it('put nothing of a person into an address', async () => {
    await lead({ name: 'Private Person', email: 'private@example.org', phone: '5550 9999' });
    const hrefs = [...(await textOf('')).matchAll(/(?:href|action)="([^"]*)"/g)].map(([, href]) => href!).join(' ');
    expect(hrefs).not.toMatch(/private|5550.{0,3}9999/i);
  });

  it('change their state, as the API does, and that is audited', async () => {
    const { id } = await lead({ name: 'Arjun Patel' });
    const path = `${base}/leads/${id}`;
    const tutor = await make.tutor(organizationId);
    const send = (fields: object) => pages.owner.post(path, { form_token: randomUUID(), assigned_tutor_id: '', staff_notes: '', ...fields });
    const done = await send({ status: 'converted', assigned_tutor_id: tutor.id, staff_notes: 'Keen' });
    expect([done.status, done.headers.location]).toEqual([303, path]);
    const stored = { status: 'converted', convertedAt: expect.any(Date) as Date, assignedTutorId: tutor.id, staffNotes: 'Keen' };
    expect(await make.find('leads', id)).toMatchObject(stored);
    expect(await pages.audited('PATCH /v1/leads/:lead_id')).toEqual([{ lead_id: id, status: 'converted', by: expect.anything() as unknown }]);
    await send({ status: 'new' });
    expect(await make.find('leads', id)).toMatchObject(stored);
    expect(await textOf(`/leads/${id}`)).toContain('The status is &quot;converted&quot;.');
    const long = await send({ status: 'converted', staff_notes: 'x'.repeat(5_001) });
    expect([long.status, long.text.includes('id="field-staff_notes-error"')]).toEqual([422, true]);
    for (const wrong of [{ status: 'won' }, { status: 'converted', assigned_tutor_id: 'x' }]) expect((await send(wrong)).status).toBe(400);
    for (const unknown of [randomUUID(), (await make.student(organizationId)).id])
      expect((await send({ status: 'converted', assigned_tutor_id: unknown })).status).toBe(404);
  });

  it('close once they have become a student, unless the form is refused', async () => {
    const { id } = await lead({ name: 'Arjun Patel' });
    const fields = { role: 'student', lead: id, first_name: 'Arjun', last_name: 'Patel', email: '', phone: '' };
    expect((await pages.owner.post(`${pages.base}/invite`, { ...fields, first_name: '' })).text).toContain(`name="lead" value="${id}"`);
    expect((await make.find('leads', id)).status).toBe('new');
    expect((await pages.owner.post(`${pages.base}/invite`, fields)).status).toBe(200);
    expect((await make.find('leads', id)).status).toBe('converted');
    // One that is closed stays so.
    expect((await pages.owner.post(`${pages.base}/invite`, fields)).status).toBe(200);
    const other = await make.row('leads', { organizationId: (await make.organization()).id, name: 'Foreign' });
    expect((await pages.owner.post(`${pages.base}/invite`, { ...fields, lead: other.id })).status).toBe(404);
  });
});

describe('booking requests', () => {
  it('show the tutors who suit them, with reasons, and can be declined and reopened', async () => {
    const subject = await make.subject(organizationId, { name: 'Physics' });
    const teacher = await make.tutor(organizationId, { user: { firstName: 'Sam', lastName: 'Okafor' }, profile: { teachingMode: 'online' } });
    await make.tutorSubject(organizationId, teacher.id, subject.id);
    const wish = { subjectId: subject.id, studentDisplayName: 'Mia', preferredMode: 'online' as const };
    const { id } = await make.row('booking_requests', { organizationId, ...wish });
    expect(await textOf('/requests?status=pending')).toContain(`${base}/requests/${id}`);
    const shown = await textOf(`/requests/${id}`);
    for (const text of ['Physics', 'Mia', 'Sam Okafor', 'Teaches Physics', 'Teaches online', '0 sessions ahead']) expect(shown).toContain(text);
    for (const [action, status] of [['decline', 'declined'], ['decline', 'declined'], ['reopen', 'pending']] as const) {
      const sent = await pages.owner.post(`${base}/requests/${id}`, { action });
      expect([sent.status, (await make.find('booking_requests', id)).status]).toEqual([303, status]);
    } // prettier-ignore
    const rows = `SELECT result FROM audit_log WHERE details ->> 'booking_request_id' = $1 ORDER BY created_at, id`;
    expect((await make.query<{ result: string }>(rows, [id])).map(({ result }) => result)).toEqual(['done', 'unchanged', 'done']);
    await make.query(`UPDATE booking_requests SET status = 'expired' WHERE id = $1`, [id]);
    await pages.owner.post(`${base}/requests/${id}`, { action: 'decline' });
    expect(await textOf(`/requests/${id}`)).toContain('The status is &quot;expired&quot;.');
    expect((await pages.owner.post(`${base}/requests/${id}`, { action: 'match' })).status).toBe(400);
  });
});

it('a request shows free times of the recommended tutors on the days that suit, which lead to the booking', async () => {
  const tutor = await make.tutor(organizationId, { user: { firstName: 'Free', lastName: 'Times' }, status: 'accepted' });
  const student = await make.student(organizationId, { status: 'accepted' });
  const subject = await make.subject(organizationId);
  await make.tutorSubject(organizationId, tutor.id, subject.id);
  for (const dayOfWeek of [2, 3]) {
    await make.row('availabilities', {
      organizationId,
      tutorId: tutor.id,
      dayOfWeek,
      startTime: '16:00',
      endTime: '18:00',
      timezone: 'Australia/Melbourne',
    });
  }
  const wish = { organizationId, studentId: student.id, subjectId: subject.id, preferredDays: ['tuesday'], durationMinutes: 60 };
  const { id } = await make.row('booking_requests', { ...wish, status: 'pending' });
  const { text } = await pages.owner.get(`${base}/requests/${id}`);
  expect(text).toContain('Tuesday ');
  expect(text).not.toContain('Wednesday ');
  const [, link] = /<a href="([^"]*at=[^"]*)">/.exec(text)!;
  const booking = await pages.owner.get(link!.replaceAll('&amp;', '&'));
  expect([booking.status, /name="at" value="[^"]+" checked/.test(booking.text)]).toEqual([200, true]);
});
