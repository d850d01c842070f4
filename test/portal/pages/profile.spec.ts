import { randomUUID } from 'node:crypto';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const portal = await fixture(TestPortal.start());
const { make } = portal;

let owner: Someone;
let at: string;
beforeEach(async () => {
  owner = await portal.someone('owner');
  at = owner.organization.id;
});

const base = () => `/o/${owner.organization.slug}/people`;
const look = async (path: string) => (await portal.get(base() + path, owner.cookie).expect(200)).text;
const send = (path: string, fields: Record<string, string | string[] | undefined>, cookie = owner.cookie) =>
  portal.post(base() + path, { form_token: randomUUID(), ...fields }, cookie);
const errorsOf = (text: string) => [...text.matchAll(/<p class="error" id="([\w-]+)-error">/g)].map(([, id]) => id);

describe('what is known of somebody', () => {
  it.each(['student', 'parent', 'tutor'] as const)('of a %s is corrected: names, address and phone', async (role) => {
    const child = await make.student(at);
    const made = { student: () => make.student(at), tutor: () => make.tutor(at), parent: () => make.parent(at, { children: [child.id] }) };
    const { id } = await made[role]();
    const typed = { first_name: 'Ada', last_name: 'Byron', email: `${randomUUID()}@example.org`, phone: '+61 3 9000 0000' };
    await look(`/${id}/edit`);
    await send(`/${id}/edit`, typed).expect(303);
    const [login] = await make.query('SELECT first_name, last_name, email, phone FROM users WHERE id = $1', [id]);
    expect(login).toEqual(typed);
    const page = await look(`/${id}`);
    for (const text of Object.values(typed)) expect(page).toContain(text);
    // A phone or an address that was emptied is gone.
    await send(`/${id}/edit`, { ...typed, email: typed.email, phone: '' }).expect(303);
    expect(await make.query('SELECT phone FROM users WHERE id = $1', [id])).toEqual([{ phone: null }]);
  });

  it('is refused with the fields marked, and typed again by nobody', async () => {
    const { id } = await make.student(at);
    const { status, text } = await send(`/${id}/edit`, { first_name: '', last_name: 'x'.repeat(201), email: 'nowhere', phone: '1'.repeat(60) });
    expect([status, errorsOf(text).sort()]).toEqual([422, ['field-email', 'field-first_name', 'field-last_name', 'field-phone']]);
    expect(text).toContain('value="nowhere"');
  });

  it('of a login that another organization keeps is left to the person', async () => {
    const { id } = await make.student(at);
    await make.member((await make.organization()).id, { userId: id, role: 'student', status: 'accepted' });
    expect(await look(`/${id}/edit`)).not.toMatch(/name="(?:first_name|email)"/);
    await send(`/${id}/edit`, { first_name: 'Newname', last_name: 'Byron', email: 'ada@example.org', phone: '' }).expect(303);
    expect(await make.query('SELECT 1 FROM users WHERE id = $1 AND first_name = $2', [id, 'Newname'])).toEqual([]);
  });

  it('of owners and admins is a name, which only owners change', async () => {
    const admin = await portal.someone('admin', { organization: owner.organization });
    expect(await look(`/${admin.user.id}/edit`)).not.toContain('name="email"');
    await send(`/${admin.user.id}/edit`, { first_name: 'New', last_name: 'Name', email: 'taken@example.org' }).expect(303);
    expect(await make.query('SELECT first_name, email FROM users WHERE id = $1', [admin.user.id])).toEqual([
      { first_name: 'New', email: admin.user.email },
    ]);
    await send(`/${owner.user.id}/edit`, { first_name: 'Other', last_name: 'Name' }, admin.cookie).expect(422);
  });

  it('says the level of a student, and what a tutor teaches, where and how', async () => {
    const band = await make.row('rate_bands', { organizationId: at, name: 'Seniors' });
    const tier = await make.row('tutor_tiers', { organizationId: at, name: 'Gold' });
    const [maths, art] = [
      await make.row('subjects', { organizationId: at, name: 'Maths' }),
      await make.row('subjects', { organizationId: at, name: 'Art' }),
    ];
    const [student, tutor] = [await make.student(at), await make.tutor(at)];
    const named = { first_name: 'Ada', last_name: 'Byron', email: '', phone: '' };
    expect(await look(`/${student.id}/edit`)).toContain('Seniors');
    await send(`/${student.id}/edit`, { ...named, rate_band_id: band.id }).expect(303);
    expect(await make.query('SELECT rate_band_id FROM members WHERE user_id = $1', [student.id])).toEqual([{ rate_band_id: band.id }]);
    const teaching = {
      tutor_tier_id: tier.id,
      teaching_mode: 'both',
      subjects: [maths.id, art.id],
      meeting_url: 'https://meet.example.org/ada',
      home_suburb: 'Carlton',
      home_postcode: '3053',
      max_travel_km: '12',
    };
    await send(`/${tutor.id}/edit`, { ...named, ...teaching }).expect(303);
    expect(await look(`/${tutor.id}`)).toContain('Art, Maths');
    const form = await look(`/${tutor.id}/edit`);
    for (const chosen of [tier.id, 'both', maths.id, art.id]) expect(form).toMatch(new RegExp(`value="${chosen}" (?:selected|checked)`));
    for (const typed of ['https://meet.example.org/ada', 'Carlton', '3053', '12']) expect(form).toContain(`value="${typed}"`);
    await send(`/${tutor.id}/edit`, { ...named, subjects: [art.id] }).expect(303);
    expect(await make.query('SELECT subject_id FROM tutor_subjects WHERE user_id = $1', [tutor.id])).toEqual([{ subject_id: art.id }]);
    // What the page does not offer.
    for (const wrong of [{ subjects: ['x'] }, { tutor_tier_id: 'x' }]) await send(`/${tutor.id}/edit`, { ...named, ...wrong }).expect(400);
    for (const unknown of [{ tutor_tier_id: band.id }, { subjects: [randomUUID()] }])
      expect((await send(`/${tutor.id}/edit`, { ...named, ...unknown })).status).toBeOneOf([404, 422]);
  });
});

describe('a parent of a student who is here', () => {
  const named = { first_name: 'Linh', last_name: 'Nguyen', phone: '' };
  const childrenOf = (email: string) =>
    make.query('SELECT l.student_id FROM parent_students l JOIN users u ON u.id = l.parent_id WHERE u.email = $1 ORDER BY l.linked_at', [email]);

  it('is added with an invitation, or linked if known by the address', async () => {
    const [one, other] = [await make.student(at), await make.student(at)];
    const email = `${randomUUID()}@example.org`;
    const first = await send(`/${one.id}/parents`, { ...named, email });
    expect([first.status, first.text.includes('It is shown only once')]).toEqual([200, true]);
    expect(await look(`/${one.id}`)).toContain('Linh Nguyen');
    await send(`/${other.id}/parents`, { ...named, email }).expect(200);
    expect((await send(`/${other.id}/parents`, { ...named, email })).text).toContain('a parent of this student already');
    expect(await childrenOf(email)).toEqual([{ student_id: one.id }, { student_id: other.id }]);
  });

  it('is refused with the fields marked, and for whoever is no student here', async () => {
    const { id } = await make.student(at);
    const { status, text } = await send(`/${id}/parents`, { first_name: '', last_name: 'Nguyen', email: 'nowhere', phone: '' });
    expect([status, errorsOf(text)]).toEqual([422, ['field-first_name', 'field-email']]);
    const email = `${randomUUID()}@example.org`;
    const elsewhere = await make.student((await make.organization()).id);
    const left = await make.member(at, { role: 'student', status: 'archived' });
    for (const someone of [await make.tutor(at), left, elsewhere]) await send(`/${someone.id}/parents`, { ...named, email }).expect(404);
    expect(await childrenOf(email)).toEqual([]);
  });

  it('who comes with a new student is mailed, too', async () => {
    const person = { role: 'student', first_name: 'Mia', last_name: 'Nguyen', email: '', phone: '' };
    const parent = { 'parent.first_name': 'Linh', 'parent.last_name': 'Nguyen', 'parent.email': `${randomUUID()}@example.org` };
    expect((await send('/invite', { ...person, ...parent })).text).toContain('The parent was not mailed');
  });
});

describe('what somebody does', () => {
  it('is on their page: the next lessons with their price, and the last ones, of a student and of the tutor', async () => {
    const [student, tutor] = [await make.student(at, { user: { firstName: 'Mia', lastName: 'Nguyen' } }), await make.tutor(at)];
    for (const [hours, title] of [
      [48, 'Algebra'],
      [-48, 'Botany'],
    ] as const) {
      const startsAt = new Date(Date.now() + hours * 3_600_000);
      const { id } = await make.session(at, {
        tutorId: tutor.id,
        title,
        status: 'scheduled',
        startsAt,
        endsAt: new Date(startsAt.getTime() + 3_600_000),
      });
      await make.participant(at, id, student.id, { status: 'accepted', attendance: null, rateCents: 8_050 });
    }
    await make.row('homework', {
      organizationId: at,
      assignedBy: tutor.id,
      title: 'Chapter 3',
      homeworkType: 'text',
      scope: 'student',
      studentId: student.id,
    });
    const [ofStudent, ofTutor] = [await look(`/${student.id}`), await look(`/${tutor.id}`)];
    for (const page of [ofStudent, ofTutor]) expect(page).toMatch(/Next lessons<[^]*Algebra[^]*Last lessons<[^]*Botany/);
    expect(ofStudent).toMatch(/\$80\.50 an hour[^]*Homework<[^]*Chapter 3/);
    expect(ofTutor).not.toContain('80.50');
  });
});

describe('the lists of people', () => {
  it('are of students with parents, families with children, tutors with subjects, and the team', async () => {
    const mia = await make.student(at, { user: { firstName: 'Mia', lastName: 'Nguyen' } });
    await make.parent(at, { children: [mia.id], user: { firstName: 'Linh', lastName: 'Tran' } });
    const sam = await make.tutor(at, { user: { firstName: 'Sam', lastName: 'Okafor' } });
    await make.tutorSubject(at, sam.id, (await make.subject(at, { name: 'Chemistry' })).id);
    const rows = async (list: string) =>
      [...(await look(list)).matchAll(/<th scope="row">.*?>([^<]+)<\/a>[^]*?<td[^>]*>([^<]*)/g)].map(([, name, beside]) => [name, beside]);
    expect(await rows('/students')).toEqual([['Mia Nguyen', 'Linh Tran']]);
    expect(await rows('/families')).toEqual([['Linh Tran', 'Mia Nguyen']]);
    expect(await rows('/tutors')).toEqual([['Sam Okafor', 'Chemistry']]);
    expect(await rows('/team')).toEqual([[`${owner.user.firstName} ${owner.user.lastName}`, 'Owner']]);
    expect(await rows('')).toHaveLength(4);
    expect(await rows('/students?search=zed')).toEqual([]);
  });
});

describe('when a tutor teaches', () => {
  it('is added for several days at once, and removed line by line', async () => {
    const { id } = await make.tutor(at);
    await send(`/${id}/hours`, { days: ['1', '3'], start_time: '16:00', end_time: '20:30' }).expect(303);
    await send(`/${id}/hours`, { days: '6', start_time: '09:00', end_time: '12:00' }).expect(303);
    const [monday] = await make.query<{ id: string }>('SELECT id FROM availabilities WHERE tutor_id = $1 AND day_of_week = 1', [id]);
    expect(await look(`/${id}`)).toContain('Mon 16:00–20:30, Wed 16:00–20:30, Sat 09:00–12:00');
    await send(`/${id}/hours`, { remove: monday!.id }).expect(303);
    expect(await look(`/${id}`)).toContain('Wed 16:00–20:30, Sat 09:00–12:00');
  });

  it.each([
    ['no day', { start_time: '16:00', end_time: '20:00' }, ['field-days']],
    ['the end before the start', { days: '1', start_time: '16:00', end_time: '15:00' }, ['field-end_time']],
    ['no time', { days: '1' }, ['field-start_time', 'field-end_time']],
    ['hours that overlap', { days: '0', start_time: '10:30', end_time: '12:00' }, ['field-start_time']],
  ])('is not %s', async (_, fields, errors) => {
    const { id } = await make.tutor(at);
    await send(`/${id}/hours`, { days: '0', start_time: '10:00', end_time: '11:00' }).expect(303);
    const { status, text } = await send(`/${id}/hours`, fields);
    expect([status, errorsOf(text)]).toEqual([422, errors]);
  });

  it('has days off, of one day or several, with a note', async () => {
    const { id } = await make.tutor(at);
    await send(`/${id}/hours/time-off`, { starts_on: '2099-12-24', ends_on: '', note: '' }).expect(303);
    await send(`/${id}/hours/time-off`, { starts_on: '2099-12-27', ends_on: '2099-12-31', note: 'Family' }).expect(303);
    const page = await look(`/${id}/hours`);
    expect(page).toMatch(/24 Dec 2099[^]*27 Dec 2099 to 31 Dec 2099[^]*Family/);
    const [first] = await make.query<{ id: string }>('SELECT id FROM time_off WHERE tutor_id = $1 ORDER BY starts_on', [id]);
    await send(`/${id}/hours/time-off`, { remove: first!.id }).expect(303);
    expect(await look(`/${id}/hours`)).not.toContain('24 Dec 2099');
    for (const wrong of [{ starts_on: '2099-02-30' }, { starts_on: '2099-12-24', ends_on: '2099-12-23' }, { note: 'No day' }])
      await send(`/${id}/hours/time-off`, wrong).expect(422);
  });

  it('is of nobody else: students, people who have left, and those of other organizations', async () => {
    const elsewhere = await make.tutor((await make.organization()).id);
    const left = await make.member(at, { role: 'tutor', status: 'archived' });
    for (const { id } of [await make.student(at), elsewhere, left]) {
      await portal.get(`${base()}/${id}/hours`, owner.cookie).expect(404);
      await send(`/${id}/hours`, { days: '1', start_time: '16:00', end_time: '20:30' }).expect(404);
      await send(`/${id}/hours/time-off`, { starts_on: '2099-12-24' }).expect(404);
    }
    await portal.get(`${base()}/${elsewhere.id}/edit`, owner.cookie).expect(404);
    await send(`/${left.id}/edit`, { first_name: 'Ada', last_name: 'Byron' }).expect(422);
  });
});

describe('the notes on a student', () => {
  const notesOf = async (id: string) => (await make.query('SELECT staff_notes FROM members WHERE user_id = $1', [id]))[0]!.staff_notes;
  const form = async (id: string) => ({ version: /name="version" value="(\w*)"/.exec(await look(`/${id}`))![1]! });

  it('are written, changed and emptied, and read by owners and admins alone', async () => {
    const { id } = await make.student(at);
    const admin = await portal.someone('admin', { organization: owner.organization });
    await send(`/${id}/notes`, { ...(await form(id)), staff_notes: 'Ärger in der Schule.\n<b>Ruhig</b> ansprechen.' }).expect(303);
    expect((await portal.get(`${base()}/${id}`, admin.cookie)).text).toContain('Ärger in der Schule.');
    expect(await look(`/${id}`)).not.toContain('<b>Ruhig');
    await send(`/${id}/notes`, { ...(await form(id)), staff_notes: 'Other' }, admin.cookie).expect(303);
    expect(await notesOf(id)).toBe('Other');
    await send(`/${id}/notes`, { ...(await form(id)), staff_notes: '' }).expect(303);
    expect(await notesOf(id)).toBeNull();
    const said = await make.query(`SELECT details FROM audit_log WHERE organization_id = $1 AND operation = 'change staff notes'`, [at]);
    expect(said).toEqual(Array.from({ length: 3 }, () => ({ details: { user_id: id } })));
    const others = [
      await portal.someone('tutor', { organization: owner.organization }),
      await portal.someone('student', { organization: owner.organization }),
    ];
    for (const { cookie } of others) await send(`/${id}/notes`, { staff_notes: 'x', version: '' }, cookie).expect(403);
  });

  it('that somebody else has changed meanwhile are shown, and not overwritten unseen', async () => {
    const { id } = await make.student(at);
    const mine = await form(id);
    await send(`/${id}/notes`, { ...mine, staff_notes: 'Theirs' }).expect(303);
    const refused = await send(`/${id}/notes`, { ...mine, staff_notes: 'Mine' });
    expect([refused.status, errorsOf(refused.text)]).toEqual([422, ['field-staff_notes']]);
    for (const text of ['Theirs', 'Mine']) expect(refused.text).toContain(text);
    expect(await notesOf(id)).toBe('Theirs');
    const version = /name="version" value="(\w*)"/.exec(refused.text)![1]!;
    await send(`/${id}/notes`, { version, staff_notes: 'Theirs\nMine' }).expect(303);
    expect(await notesOf(id)).toBe('Theirs\nMine');
  });

  it('hold up to 10,000 characters, and are of students of this organization only', async () => {
    const { id } = await make.student(at);
    const long = await send(`/${id}/notes`, { ...(await form(id)), staff_notes: 'x'.repeat(10_001) });
    expect([long.status, errorsOf(long.text)]).toEqual([422, ['field-staff_notes']]);
    await send(`/${id}/notes`, { ...(await form(id)), staff_notes: 'x'.repeat(10_000) }).expect(303);
    expect(Buffer.byteLength(await look(`/${id}`))).toBeLessThan(60_000);
    const [tutor, elsewhere] = [await make.tutor(at), await make.student((await make.organization()).id)];
    expect(await look(`/${tutor.id}`)).not.toContain('id="notes"');
    for (const other of [tutor.id, elsewhere.id, randomUUID()]) {
      const answer = await send(`/${other}/notes`, { staff_notes: 'x', version: 'd41d8cd98f00b204e9800998ecf8427e' });
      expect([other, answer.status]).toEqual([other, 404]);
    }
    expect(await make.query(`SELECT FROM members WHERE user_id = ANY ($1::uuid[]) AND staff_notes IS NOT NULL`, [[tutor.id, elsewhere.id]])).toEqual(
      [],
    );
  });

  it('are not in what the student downloads', async () => {
    const { id } = await make.student(at);
    await send(`/${id}/notes`, { ...(await form(id)), staff_notes: 'Unheard of' }).expect(303);
    const cookie = await portal.session(id);
    await portal.setPassword(id);
    expect((await portal.get('/account/data/download', cookie)).text).not.toContain('Unheard of');
  });
});
