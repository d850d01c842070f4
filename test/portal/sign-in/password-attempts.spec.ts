import { QueueFull } from '@app/concurrency';
import { SignIn } from '@app/people';
import { newAddress } from '../../support/data/provisioning.js';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { PASSWORD, TestPortal } from '../../support/portal/portal.js';
import { Visitor } from '../../support/portal/visitor.js';
import { fixture } from '../../support/process/fixture.js';

const WRONG = 'not the password';

const joining = await fixture(JoinFixture.open());
const { make } = joining.portal;

let email: string;
beforeEach(async () => {
  await make.query('DELETE FROM sign_in_attempts');
  ({ email } = await joining.person({ email: newAddress() }));
});

const at = (network?: string) => new Visitor(joining.portal, undefined, network);
const enter = async (visitor: Visitor, password: string, address = email) => (await visitor.post('/sign-in', { email: address, password })).status;

async function fail(visitor: Visitor, times: number, address = email): Promise<void> {
  for (let time = 0; time < times; time++) expect(await enter(visitor, WRONG, address)).toBe(422);
}

const mailed = async (kind: string) => {
  await joining.portal.resolveLinks();
  return make.query('SELECT recipient FROM outbox WHERE recipient = $1 AND kind = $2', [email, kind]);
};

describe('passwords from one network', () => {
  it('are never refused while they are right', async () => {
    const { network } = at();
    for (let person = 0; person < 205; person++) expect(await enter(at(network), PASSWORD)).toBe(303);
    await fail(at(network), 10);
  });

  it('are not compared after ten wrong ones at one login; passkey and mail are offered instead', async () => {
    const visitor = at();
    await fail(visitor, 10);
    const compared = vi.spyOn(SignIn.prototype, 'withPassword');
    const answer = await visitor.post('/sign-in', { email, password: PASSWORD, next: '/account' });
    expect(compared).not.toHaveBeenCalled();
    compared.mockRestore();
    expect([answer.status, Number(answer.headers['retry-after']) > 0]).toEqual([429, true]);
    expect(answer.text).toContain('<h1>Sign in another way</h1>');
    expect(answer.text).toContain('data-passkey="get" data-next="/account"');
    const [, sent] = /action="\/forgot-password">\s*<input type="hidden" name="email" value="([^"]*)"/.exec(answer.text)!;
    expect((await visitor.post('/forgot-password', { email: sent! })).text).toContain('Check your email');
    expect(await mailed('password_reset')).toHaveLength(1);
    const { token } = await joining.mail(email);
    expect((await visitor.post(`/password/${token}`, { password: `${PASSWORD}!` })).headers.location).toBe('/');
    // This browser is known from now on.
    expect(await enter(visitor, `${PASSWORD}!`)).toBe(303);
    expect(await enter(at(), `${PASSWORD}!`)).toBe(303);
    expect(await enter(at(visitor.network), `${PASSWORD}!`)).toBe(429);
  });

  it('are refused alike for known and unknown addresses', async () => {
    const answers = [];
    for (const address of [email, 'unknown@example.org']) {
      const visitor = at();
      await fail(visitor, 10, address);
      const { status, text } = await visitor.post('/sign-in', { email: address, password: WRONG });
      // What is left of the wait depends on the time alone, which goes on between the two.
      answers.push([status, text.replaceAll(address, '…').replace(/again in \d+ minutes?\./, 'again later.')]);
    }
    expect(answers[1]).toEqual(answers[0]);
  });

  it('are not offered a mail where this service sends none', async () => {
    const silent = await TestPortal.start({ TRUST_PROXY: 'true' }, joining.portal.database);
    try {
      const visitor = new Visitor(silent);
      await fail(visitor, 10);
      const { status, text } = await visitor.post('/sign-in', { email, password: PASSWORD });
      expect([status, text.includes('with a passkey, or'), text.includes('Email me')]).toEqual([429, true, false]);
    } finally {
      await silent.stop();
    }
  });

  it('are refused after 200 wrong ones at different logins, except in known browsers', async () => {
    const known = at();
    expect(await enter(known, PASSWORD)).toBe(303);
    await fail(at(known.network), 1, 'other@example.org');
    await make.query('UPDATE sign_in_attempts SET attempts = 199 WHERE attempts > 0');
    await fail(at(known.network), 1, 'another@example.org');
    expect(await enter(at(known.network), PASSWORD)).toBe(429);
    expect(await enter(known, PASSWORD)).toBe(303);
  });

  it('leave nothing behind while their network is refused', async () => {
    const { network } = at();
    await fail(at(network), 1, 'other@example.org');
    await make.query('UPDATE sign_in_attempts SET attempts = 200 WHERE attempts > 0');
    // A network has a row for each minute, and this may take longer than one.
    const counters = () => make.query('SELECT DISTINCT subject FROM sign_in_attempts ORDER BY subject');
    const before = await counters();
    for (let made = 0; made < 5; made++) expect(await enter(at(network), WRONG, `made-up-${made}@example.org`)).toBe(429);
    expect(await counters()).toEqual(before);
  });

  it('do not use up the network’s attempts while they are refused', async () => {
    const visitor = at();
    await fail(visitor, 10);
    await make.query('UPDATE sign_in_attempts SET attempts = attempts + 185 WHERE minute = (SELECT max(minute) FROM sign_in_attempts)');
    for (let time = 0; time < 10; time++) expect(await enter(visitor, WRONG)).toBe(429);
    expect(await enter(at(visitor.network), WRONG, 'other@example.org')).toBe(422);
  });

  it('do not count if they were not compared', async () => {
    const visitor = at();
    const busy = vi.spyOn(SignIn.prototype, 'withPassword').mockRejectedValue(new QueueFull('The queue is full'));
    for (let time = 0; time < 12; time++) expect(await enter(visitor, PASSWORD)).toBe(503);
    busy.mockRestore();
    expect(await enter(visitor, PASSWORD)).toBe(303);
  });

  it('do not exceed the limit when many arrive at once', async () => {
    const { network } = at();
    const statuses = await Promise.all(Array.from({ length: 25 }, () => enter(at(network), WRONG)));
    expect(statuses.filter((status) => status === 422)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  });

  it('over IPv6 share a /56', async () => {
    await fail(at('2001:db8:1:2a00::1'), 10);
    expect(await enter(at('2001:db8:1:2aff:1:2:3:4'), PASSWORD)).toBe(429);
    expect(await enter(at('2001:db8:1:2b00::1'), PASSWORD)).toBe(303);
  });
});

describe('a warning of wrong passwords', () => {
  it('is mailed once a day after 20 of them in an hour, wherever they come from', async () => {
    await fail(at(), 10);
    await fail(at(), 10);
    expect(await mailed('wrong_passwords')).toEqual([]);
    await fail(at(), 1);
    expect(await mailed('wrong_passwords')).toHaveLength(1);
    await fail(at(), 10);
    expect(await mailed('wrong_passwords')).toHaveLength(1);
    await make.query(`UPDATE sign_in_attempts SET minute = minute - interval '1 day'`);
    for (let network = 0; network < 3; network++) await fail(at(), 10);
    expect(await mailed('wrong_passwords')).toHaveLength(2);
  });

  it('takes the same statements for unknown addresses, which get none', async () => {
    const requests = async (address: string) => {
      for (let network = 0; network < 3; network++) await fail(at(), 10, address);
      return make.query('SELECT kind FROM password_link_requests WHERE email_normalized = $1', [address]);
    };
    const known = await requests(email);
    expect(known).toEqual([{ kind: 'wrong_passwords' }]);
    expect(await requests('unknown@example.org')).toEqual(known);
    await joining.portal.resolveLinks();
    expect(await make.query(`SELECT FROM outbox WHERE recipient = 'unknown@example.org'`)).toEqual([]);
  });

  it('does not count the typing errors in known browsers', async () => {
    for (let browser = 0; browser < 3; browser++) {
      const known = at();
      expect(await enter(known, PASSWORD)).toBe(303);
      await fail(known, 10);
    }
    expect(await mailed('wrong_passwords')).toEqual([]);
  });
});

describe('mails with a link', () => {
  it('beyond three are still at hand: the last one stays valid for half an hour at least', async () => {
    for (let stranger = 0; stranger < 5; stranger++) await at().post('/forgot-password', { email });
    expect(await mailed('password_reset')).toHaveLength(3);
    // As late as possible while the limit still holds.
    await make.query(`UPDATE sign_in_attempts SET minute = minute - interval '29 minutes'`);
    await make.query(`UPDATE password_links SET expires_at = expires_at - interval '29 minutes'`);
    await at().post('/forgot-password', { email });
    expect(await mailed('password_reset')).toHaveLength(3);
    const { token } = await joining.mail(email);
    expect((await at().get(`/password/${token}`)).status).toBe(200);
    await make.query(`UPDATE sign_in_attempts SET minute = minute - interval '1 minute'`);
    await at().post('/forgot-password', { email });
    expect(await mailed('password_reset')).toHaveLength(4);
  });

  it('can be opened any number of times from one network', async () => {
    await at().post('/forgot-password', { email });
    await joining.portal.resolveLinks();
    const { token } = await joining.mail(email);
    const visitor = at();
    for (let time = 0; time < 65; time++) expect((await visitor.get(`/password/${'x'.repeat(43)}`)).status).toBe(404);
    expect((await visitor.post(`/password/${token}`, { password: `${PASSWORD}!` })).status).toBe(303);
  });
});

it('a current password is refused after ten wrong ones, of which right ones are none', async () => {
  const visitor = at();
  expect(await enter(visitor, PASSWORD)).toBe(303);
  const change = async (current_password: string, password = 'short') =>
    (await visitor.post('/account/password', { current_password, password })).status;
  for (let time = 0; time < 12; time++) expect(await change(PASSWORD)).toBe(422);
  for (let time = 0; time < 10; time++) expect(await change(WRONG)).toBe(422);
  expect(await change(PASSWORD, `${PASSWORD}!`)).toBe(429);
});
