import { Vault } from '@app/config';
import { newAddress } from '../../support/data/provisioning.js';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { PASSWORD, TestPortal } from '../../support/portal/portal.js';
import { Visitor } from '../../support/portal/visitor.js';
import { fixture } from '../../support/process/fixture.js';

const WRONG = 'not the password';
const NEW = 'a new and longer password';
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';

const joining = await fixture(JoinFixture.open());
const { make } = joining.portal;

let person: { id: string; email: string };
beforeEach(async () => {
  person = await joining.person({ email: newAddress() });
});

const enter = (visitor: Visitor, password: string, { email } = person) => visitor.post('/sign-in', { email, password }).then(({ status }) => status);

/** A browser that has signed in to the person's login. */
async function knownBrowser(): Promise<Visitor> {
  const visitor = joining.visitor();
  expect(await enter(visitor, PASSWORD)).toBe(303);
  return visitor;
}

/** Another browser with the same cookies, elsewhere. */
function copyOf(visitor: Visitor, device = visitor.cookies.get('device')!): Visitor {
  return new Visitor(joining.portal, `device=${device}`);
}

/** Tries from a network where all strangers are refused. */
async function isKnown(visitor: Visitor, { email } = person): Promise<boolean> {
  Object.assign(visitor, { network: joining.visitor().network });
  for (let wrong = 0; wrong < 10; wrong++) {
    await enter(new Visitor(joining.portal, undefined, visitor.network), WRONG, { id: '', email });
  }
  const status = await enter(visitor, WRONG, { id: '', email });
  expect([422, 429]).toContain(status);
  return status === 422;
}

const mails = (kind: string) => joining.portal.mailsTo(person.email, kind);

describe('a browser that has signed in before', () => {
  it('is told from strangers by a cookie that shows nothing and changes with each sign-in', async () => {
    const visitor = await knownBrowser();
    const first = visitor.cookies.get('device')!;
    const text = Buffer.from(first, 'base64url').toString('latin1');
    for (const secret of [person.id, person.email]) expect(text).not.toContain(secret);
    await visitor.post('/sign-out');
    expect(visitor.cookies.get('device')).toBe(first);
    expect(await enter(visitor, PASSWORD)).toBe(303);
    expect(visitor.cookies.get('device')).not.toBe(first);
    expect(await isKnown(visitor)).toBe(true);
  });

  it('has ten wrong passwords in a quarter of an hour of its own, and starts anew with each sign-in', async () => {
    const visitor = await knownBrowser();
    const wrong: number[] = [];
    for (let time = 0; time < 9; time++) wrong.push(await enter(visitor, WRONG));
    expect(await enter(visitor, PASSWORD)).toBe(303);
    for (let time = 0; time < 10; time++) wrong.push(await enter(visitor, WRONG));
    expect(new Set(wrong)).toEqual(new Set([422]));
    expect(await enter(visitor, PASSWORD)).toBe(429);
    // What it has used up is nobody else's.
    expect(await enter(new Visitor(joining.portal, undefined, visitor.network), PASSWORD)).toBe(303);
  });

  it('is known to the logins that it has signed in to, and to no other', async () => {
    const visitor = await knownBrowser();
    const other = await joining.person();
    expect(await isKnown(copyOf(visitor), other)).toBe(false);
    expect(await enter(visitor, PASSWORD, other)).toBe(303);
    for (const login of [person, other]) expect(await isKnown(copyOf(visitor), login)).toBe(true);
    for (let more = 0; more < 5; more++) expect(await enter(visitor, PASSWORD, await joining.person())).toBe(303);
    expect(visitor.cookies.get('device')!.length).toBeLessThan(2_000);
    expect(await isKnown(copyOf(visitor))).toBe(false);
  });

  it('cannot be imitated', async () => {
    const device = (await knownBrowser()).cookies.get('device')!;
    const flipped = Buffer.from(device, 'base64url');
    flipped[flipped.length - 1]! ^= 1;
    const forged = JSON.stringify([{ ...person, address: person.email, issuedAt: Date.now(), nonce: 'mine' }]);
    const otherPurpose = joining.portal.app.get(Vault).seal('join cookies', forged);
    for (const wrong of [flipped, otherPurpose, Buffer.from(forged), Buffer.alloc(0)]) {
      expect(await isKnown(copyOf(joining.visitor(), wrong.toString('base64url')))).toBe(false);
    }
  });

  it.each<[string, (visitor: Visitor) => Promise<unknown>]>([
    ['the password changes', (visitor) => visitor.post('/account/password', { current_password: PASSWORD, password: NEW })],
    ['the person signs out everywhere else', (visitor) => visitor.post('/account/sessions/end-others')],
    ['a year has passed', () => make.query(`UPDATE device_cookies SET valid_from = now() - interval '2 years'`)],
  ])('is forgotten when %s', async (what, end) => {
    const [visitor, acting] = [await knownBrowser(), await knownBrowser()];
    const old = copyOf(visitor);
    if (what === 'a year has passed') {
      const [cookie] = JSON.parse(
        joining.portal.app.get(Vault).open('device cookies', Buffer.from(visitor.cookies.get('device')!, 'base64url')),
      ) as { issuedAt: number }[];
      const aged = JSON.stringify([{ ...cookie, issuedAt: cookie!.issuedAt - 366 * 86_400_000 }]);
      old.cookies.set('device', joining.portal.app.get(Vault).seal('device cookies', aged).toString('base64url'));
    }
    await end(acting);
    expect(await isKnown(old)).toBe(false);
    expect(await isKnown(copyOf(acting))).toBe(true);
  }); // prettier-ignore

  it('is forgotten when the address changes, under both addresses', async () => {
    const visitor = await knownBrowser();
    const email = newAddress();
    await make.query('UPDATE users SET email = $2, email_normalized = $2 WHERE id = $1', [person.id, email]);
    expect(await isKnown(copyOf(visitor))).toBe(false);
    expect(await isKnown(copyOf(visitor), { id: person.id, email })).toBe(false);
  });
});

describe('a mail about a new browser', () => {
  it('goes out when another browser signs in, with its name and the time and without its network', async () => {
    const visitor = await knownBrowser();
    expect(await mails('new_browser_sign_in')).toEqual([]);
    const other = joining.visitor();
    const form = joining.portal.post('/sign-in', { email: person.email, password: PASSWORD });
    const answer = await form.set({ 'User-Agent': FIREFOX, 'X-Forwarded-For': other.network });
    expect(answer.status).toBe(303);
    const [mail, ...more] = await mails('new_browser_sign_in');
    expect(more).toEqual([]);
    expect(mail!.signIn!.browser).toBe('Firefox on Windows');
    expect(Math.abs(Date.parse(mail!.signIn!.at) - Date.now())).toBeLessThan(60_000);
    expect(mail!.joinUrl).toMatch(/\/forgot-password$/);
    expect(JSON.stringify(mail)).not.toContain(other.network);
    // Both are known by now.
    await visitor.post('/sign-out');
    expect(await enter(visitor, PASSWORD)).toBe(303);
    expect(await mails('new_browser_sign_in')).toHaveLength(1);
  });

  it('does not go out when the sign-in fails', async () => {
    await knownBrowser();
    expect(await enter(joining.visitor(), WRONG)).toBe(422);
    expect(await mails('new_browser_sign_in')).toEqual([]);
  });

  it('does not follow the mail about a new password, but the next browser is new again', async () => {
    const visitor = await knownBrowser();
    await joining.visitor().post('/forgot-password', { email: person.email });
    await joining.portal.resolveLinks();
    const { token } = await joining.mail(person.email);
    expect((await joining.visitor().post(`/password/${token}`, { password: NEW })).status).toBe(303);
    expect([(await mails('password_changed')).length, (await mails('new_browser_sign_in')).length]).toEqual([1, 0]);
    expect(await enter(visitor, NEW)).toBe(303);
    expect(await mails('new_browser_sign_in')).toHaveLength(1);
  });

  it('is not needed where this service sends no mail', async () => {
    const silent = await TestPortal.start({ TRUST_PROXY: 'true' }, joining.portal.database);
    try {
      for (const visitor of [new Visitor(silent), new Visitor(silent)]) expect(await enter(visitor, PASSWORD)).toBe(303);
      expect(await mails('new_browser_sign_in')).toEqual([]);
    } finally {
      await silent.stop();
    }
  });
});
