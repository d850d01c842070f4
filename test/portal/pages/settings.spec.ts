import { newAddress } from '../../support/data/provisioning.js';
import { JoinFixture, registration, STUDENT, TUTOR } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

const joining = await JoinFixture.shared();
const { sql } = joining;
const { make } = joining.portal;

let pages: PeoplePages;
let settings: string;

beforeEach(async () => {
  pages = await PeoplePages.open(joining);
  settings = pages.base.replace('/people', '/settings');
});

const GIVEN = {
  app_url: 'https://app.example.org/',
  postal_address: '12 High Street, Carlton VIC 3053',
  phone: '+61 (3) 9000-0000',
  privacy_url: 'https://example.org/privacy',
};
const SHOWN = ['12 High Street', 'tel:+61390000000', 'https://example.org/privacy'];

const stored = async () =>
  (await sql('SELECT app_url, postal_address, phone, privacy_url FROM organizations WHERE id = $1', pages.provisioning.id))[0];

describe('the settings', () => {
  it('are saved, shown again, and audited by the names of what changed', async () => {
    const saved = await pages.owner.post(settings, GIVEN);
    expect([saved.status, saved.headers.location]).toEqual([303, settings]);
    expect(await stored()).toEqual(GIVEN);
    const { text } = await pages.owner.get(settings);
    for (const value of Object.values(GIVEN)) expect(text).toContain(`value="${value}"`);
    expect(text).toContain('Demo Tutoring');
    await pages.owner.post(settings, GIVEN);
    await pages.owner.post(settings, { ...GIVEN, phone: '' });
    expect(await stored()).toEqual({ ...GIVEN, phone: null });
    expect(await pages.audited('change settings')).toEqual([
      { by: pages.ownerId, fields: ['appUrl', 'postalAddress', 'phone', 'privacyUrl'] },
      { by: pages.ownerId, fields: ['phone'] },
    ]);
  });

  it.each([
    [
      'app_url',
      [
        'http://app.example.org',
        'javascript:alert(1)',
        'app.example.org',
        'https://',
        'https://localhost',
        'https://a:b@example.org',
        `https://example.org/${'x'.repeat(500)}`,
      ],
    ],
    ['privacy_url', ['http://example.org', 'data:text/html,x', '//example.org']],
    ['phone', ['call me', '+', '1'.repeat(51), '123;ext=4']],
    ['postal_address', ['x'.repeat(301), 'one\ntwo', '\u200b']],
  ])('%s refuses what it cannot be, and keeps what was typed', async (field, values) => {
    for (const value of values) {
      const answer = await pages.owner.post(settings, { ...GIVEN, [field]: value });
      expect([value, answer.status]).toEqual([value, 422]);
      expect(answer.text).toContain(`id="field-${field}-error"`);
      expect(answer.text).toContain('value="https://');
    }
    expect(await stored()).toEqual({ app_url: null, postal_address: null, phone: null, privacy_url: null });
  });

  it('are changed by admins too, and belong to one organization', async () => {
    const organization = await make.find('organizations', pages.provisioning.id);
    const [admin, tutor] = [await joining.portal.someone('admin', { organization }), await joining.portal.someone('tutor', { organization })];
    const stranger = await joining.portal.someone('owner');
    const others = () => sql('SELECT id FROM organizations WHERE app_url IS NOT NULL AND id <> $1 ORDER BY 1', pages.provisioning.id);
    const before = await others();
    expect((await joining.portal.post(settings, GIVEN, tutor.cookie)).status).toBe(403);
    expect((await joining.portal.post(settings, GIVEN, stranger.cookie)).status).toBe(404);
    expect((await joining.portal.post(settings, GIVEN, admin.cookie)).status).toBe(303);
    expect([await stored(), await others()]).toEqual([GIVEN, before]);
  });
});

describe('the organization itself', () => {
  const identity = async () => (await sql('SELECT name, time_zone, currency FROM organizations WHERE id = $1', pages.provisioning.id))[0];
  const GIVEN_HERE = { ...GIVEN, name: 'Riverside', time_zone: 'Australia/Melbourne', currency: 'AUD' };

  it('has its name, time zone and currency changed, and says what it cannot be', async () => {
    const { text } = await pages.owner.get(settings);
    for (const chosen of ['<option value="Australia/Melbourne" selected>Melbourne<', '<option value="AUD" selected>', 'name="name" type="text" value="Demo Tutoring"']) expect(text).toContain(chosen); // prettier-ignore
    // Nothing is ahead, so nothing is asked.
    const wanted = { ...GIVEN_HERE, time_zone: 'Europe/Paris', currency: 'EUR' };
    expect((await pages.owner.post(settings, wanted)).status).toBe(303);
    expect(await identity()).toEqual({ name: 'Riverside', time_zone: 'Europe/Paris', currency: 'EUR' });
    for (const [field, value] of [['name', ''], ['name', 'n'.repeat(201)], ['time_zone', 'Mars/Base'], ['time_zone', ''], ['currency', 'JPY'], ['currency', 'x'.repeat(5000)]] as const) {
      const answer = await pages.owner.post(settings, { ...wanted, [field]: value });
      expect([field, answer.status, answer.text.includes(`id="field-${field}-error"`)]).toEqual([field, 422, true]);
    } // prettier-ignore
    const fields = ['name', 'timeZone', 'currency', 'appUrl', 'postalAddress', 'phone', 'privacyUrl'];
    expect(await pages.audited('change settings')).toEqual([{ by: pages.ownerId, fields }]);
  });

  it('keeps its currency once there is money, and says why', async () => {
    const { id } = pages.provisioning;
    await make.invoice(id, (await make.student(id)).id, { status: 'draft', invoiceNumber: null });
    const { text } = await pages.owner.get(settings);
    expect(text).toContain('stays, because there are invoices');
    expect(text).not.toContain('name="currency"');
    const late = await pages.owner.post(settings, { ...GIVEN_HERE, currency: 'EUR' });
    expect((await pages.owner.follow(late)).text).toContain('There is money already, so the currency stays.');
    expect(await identity()).toMatchObject({ name: 'Demo Tutoring', currency: 'AUD' });
    const { currency: _, ...rest } = GIVEN_HERE;
    expect((await pages.owner.post(settings, rest)).status).toBe(303);
    expect(await identity()).toMatchObject({ name: 'Riverside', currency: 'AUD' });
  });

  it('says what another time zone moves before it does, and wants a yes to exactly that', async () => {
    const { id } = pages.provisioning;
    const tutor = await make.tutor(id);
    for (const startsAt of ['2098-06-02T05:00:00Z', '2098-06-03T05:00:00Z'].map((at) => new Date(at)))
      await make.session(id, { tutorId: tutor.id, startsAt, endsAt: new Date(startsAt.getTime() + 3_600_000) });
    await sql(`INSERT INTO availabilities (id, organization_id, tutor_id, day_of_week, start_time, end_time, timezone)
      VALUES (gen_random_uuid(), $1, $2, 1, '09:00', '12:00', 'Australia/Melbourne')`, id, tutor.id); // prettier-ignore
    await sql(`INSERT INTO time_off (id, organization_id, tutor_id, starts_on, ends_on) VALUES (gen_random_uuid(), $1, $2, '2098-06-01', '2098-06-01')`, id, tutor.id); // prettier-ignore
    const wanted = { ...GIVEN_HERE, time_zone: 'Australia/Perth' };
    const asked = await pages.owner.post(settings, wanted);
    expect(asked.status).toBe(200);
    for (const said of ['2 upcoming lessons keep their moment', 'Their time on the clock changes: Monday 2 June 2098, 3:00 pm is then shown as Monday 2 June 2098, 1:00 pm', '1 entry of 1 tutor stays', '1 period of whole days begins and ends']) expect(asked.text).toContain(said); // prettier-ignore
    expect([await identity(), await pages.audited('change settings')]).toEqual([{ name: 'Demo Tutoring', time_zone: 'Australia/Melbourne', currency: 'AUD' }, []]); // prettier-ignore
    // A yes to another change is none.
    expect((await pages.owner.post(settings, { ...wanted, yes: 'Europe/Paris Australia/Perth' })).status).toBe(200);
    expect((await pages.owner.post(settings, { ...wanted, yes: 'Australia/Melbourne Australia/Perth' })).status).toBe(303);
    expect(await identity()).toEqual({ name: 'Riverside', time_zone: 'Australia/Perth', currency: 'AUD' });
    expect(await sql('SELECT timezone FROM availabilities WHERE organization_id = $1', id)).toEqual([{ timezone: 'Australia/Melbourne' }]);
    expect(await sql('SELECT starts_at FROM sessions WHERE organization_id = $1 ORDER BY 1 LIMIT 1', id)).toEqual([{ starts_at: new Date('2098-06-02T05:00:00Z') }]); // prettier-ignore
  });
});

describe('after joining', () => {
  it.each([
    ['a student', STUDENT, 'Here you see your lessons'],
    ['a tutor', { ...TUTOR, email: newAddress() }, 'Here you see your lessons, and mark who came'],
    ['a parent', null, 'Here you see the lessons of your children'],
  ])('%s reads where to go next, there and on the page of their organizations', async (_who, wish, next) => {
    const child = await make.student(pages.provisioning.id);
    const secret = await joining.invite(pages.provisioning, wish ?? { scope: 'parent', student_id: child.id, email: newAddress() });
    const visitor = joining.visitor();
    await pages.owner.post(settings, GIVEN);
    const invite = await visitor.get(`/join/${secret}`);
    for (const text of SHOWN) expect(invite.text).toContain(text);
    const welcome = await visitor.follow(await visitor.post(`/join/${secret}`, registration(newAddress())));
    const start = await visitor.get('/organizations');
    for (const { text } of [welcome, start]) {
      for (const shown of [...SHOWN, next, 'href="https://app.example.org/"']) expect(text).toContain(shown);
    }
    await pages.owner.post(settings, { ...GIVEN, app_url: '' });
    expect((await visitor.get('/organizations')).text).not.toContain('open the app');
  });

  it('somebody who was removed reads where they no longer belong', async () => {
    const visitor = joining.visitor();
    const email = newAddress();
    await visitor.post(`/join/${await joining.invite(pages.provisioning, STUDENT)}`, registration(email));
    const { id } = (await joining.loginOf(email))!;
    await pages.owner.post(`${pages.base}/${id as string}/remove`);
    expect((await visitor.get('/')).text).toContain('You no longer belong to Demo Tutoring');
    const nobody = await joining.signedIn((await joining.person()).id);
    expect((await nobody.get('/')).text).toContain('You do not belong to any organization');
    const declined = await joining.person();
    await make.member(pages.provisioning.id, { user: declined, status: 'archived' });
    await sql('UPDATE members SET accepted_at = NULL WHERE user_id = $1', declined.id);
    expect((await (await joining.signedIn(declined.id)).get('/')).text).not.toContain('no longer belong');
  });
});
