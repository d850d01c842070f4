import type { Tables } from '../../support/database/tables.js';
import { type Someone, TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

let owner: Someone;
let base: string;

beforeEach(async () => {
  owner = await portal.someone('owner', { user: { firstName: 'Olive', lastName: 'Owner' } });
  base = `/o/${owner.organization.slug}`;
});

type Key = Tables['api_keys'];

const key = (wish: Partial<Key> = {}) => make.row('api_keys', { organizationId: owner.organization.id, ...wish });
const list = async (query = '') => (await portal.get(`${base}/keys${query}`, owner.cookie).expect(200)).text;
const namesIn = (text: string) => [...text.matchAll(/<h2><a [^>]*>([^<]*)<\/a>/g)].map(([, name]) => name!);
const found = async (query: string) => namesIn(await list(query)).sort();
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

describe('the list of keys', () => {
  it('is searched by name and by the shown characters', async () => {
    await key({ name: 'Website', firstFour: '5961', lastFour: 'd7f5' });
    await key({ name: 'Till 100%', firstFour: 'abcd', lastFour: '5961' });
    await key({ name: 'ABCDE', firstFour: '0000', lastFour: '1111' });
    const search = (text: string) => found(`?${new URLSearchParams({ search: text }).toString()}`);
    expect(await search('')).toHaveLength(3);
    expect(await search('web')).toEqual(['Website']);
    expect(await search(' WEBSITE ')).toEqual(['Website']);
    expect(await search('5961')).toEqual(['Till 100%', 'Website']);
    expect(await search('abcd')).toEqual(['ABCDE', 'Till 100%']);
    for (const text of ['tk_live_5961…d7f5', '5961…d7f5', '5961...d7f5', 'tk_live_5961'])
      expect([text, await search(text)]).toEqual([text, ['Website']]);
    // A whole key, pasted by mistake.
    expect(await search(`tk_live_5961${'0'.repeat(56)}d7f5`)).toEqual(['Website']);
    // Characters that mean something to LIKE.
    for (const text of ['%', '100%']) expect(await search(text)).toEqual(['Till 100%']);
    for (const text of ['nothing', '\\', 'a\u0000b', '<b>'])
      expect([text, await search(text)]).toEqual([text, text.includes('\0') ? expect.anything() : []]);
    const none = await list('?search=%3Cb%3E');
    expect(none).toContain('No matching keys');
    expect(none).toContain('value="&lt;b&gt;"');
  });

  it('shows which keys nobody has used for 30 days, and which expire within 14', async () => {
    const times = { used: [null, 0, 29.9, 30.1], made: [0, 29.9, 30.1], ends: [null, -1, 13.9, 14.1] };
    const expected = { unused: [] as string[], expiring: [] as string[] };
    const successor = await key({ name: 'Successor' });
    for (const used of times.used) for (const made of times.made) for (const ends of times.ends) for (const end of ['', 'revoked', 'replaced']) {
      const name = ['made', made, 'used', used, 'ends', ends, end].join(' ');
      await key({
        name,
        createdAt: daysAgo(made),
        lastUsedAt: used === null ? null : daysAgo(used),
        expiresAt: ends === null ? null : daysAgo(-ends),
        revokedAt: end === 'revoked' ? new Date() : null,
        ...(end === 'replaced' && { replacedBy: successor.id, replacedAt: new Date() }),
      });
      if (end === 'revoked' || ends === -1) continue;
      if ((used ?? made) > 30) expected.unused.push(name);
      if (ends !== null && ends < 14 && end !== 'replaced') expected.expiring.push(name);
    } // prettier-ignore
    const all = async (query: string) => {
      const names: string[] = [];
      for (let page = 1; ; page++) {
        const text = await list(`${query}&page=${page}`);
        names.push(...namesIn(text));
        const next = /href="[^"]*keys(\?[^"]*)">Next/.exec(text)?.[1]?.replaceAll('&amp;', '&');
        if (!next) return names.sort();
        // The next page has the same filter.
        expect(next).toBe(`${query}&page=${page + 1}`);
      }
    };
    expect(await all('?unused=30')).toEqual(expected.unused.sort());
    expect(await all('?expiring=14')).toEqual(expected.expiring.sort());
    expect(await all('?unused=30&expiring=14')).toEqual(expected.unused.filter((name) => expected.expiring.includes(name)));
    const text = await list('?unused=30');
    expect(text.match(/class="chip warn">Not used for 30 days/g)).toHaveLength(namesIn(text).length);
    expect(text).toMatch(/name="unused" value="30" checked/);
    // What no page links to is ignored.
    expect((await found('?unused=1&expiring=x')).length).toBe(25);
  });
});

describe('the page of a key', () => {
  it('says who made it, what it may do, and what it replaced', async () => {
    const [first, second, third] = [
      await key({ name: 'First', createdBy: owner.user.id, scopes: ['read', 'payments:write'] }),
      await key({ name: 'Second' }),
      await key({ name: 'Third' }),
    ];
    for (const [old, next] of [[first, second], [second, third]] as const) await make.query(
      `UPDATE api_keys SET replaced_by = $1, replaced_at = now(), expires_at = now() + interval '1 day' WHERE id = $2`, [next.id, old.id]); // prettier-ignore
    const [one, two, three] = await Promise.all(
      [first, second, third].map(async ({ id }) => (await portal.get(`${base}/keys/${id}`, owner.cookie).expect(200)).text),
    );
    expect(one).toContain('<h1>First</h1>');
    expect(one).toContain(`<a href="${base}/people/${owner.user.id}">Olive Owner</a>`);
    expect(one).toContain('payments:write');
    const link = ({ id, name }: Key) => `href="${base}/keys/${id}">${name}</a>`;
    const [by, replaces] = ['<dt>Replaced by</dt>', '<dt>Replaces</dt>'];
    expect([one!, two!, three!].map((text) => [text.includes(by), text.includes(replaces)])).toEqual([
      [true, false],
      [true, true],
      [false, true],
    ]);
    expect(one).toContain(link(second));
    for (const other of [first, third]) expect(two).toContain(link(other));
    expect(three).toContain('an operator');
    // Only a key that works and has no successor can be replaced.
    expect([one!, two!, three!].map((text) => [text.includes('/replace"'), text.includes('/revoke"')])).toEqual([
      [false, true],
      [false, true],
      [true, true],
    ]);
    await portal.post(`${base}/keys/${third.id}/revoke`, {}, owner.cookie).expect(303);
    expect((await portal.get(`${base}/keys/${third.id}`, owner.cookie)).text).not.toMatch(/\/(replace|revoke)"/);
  });

  it('counts the requests and errors of this key in the last 7 days, as Activity does', async () => {
    const [till, other] = [await key({ name: 'Till' }), await key({ name: 'Other' })];
    const log = (apiKeyId: string, status: number, days: number) =>
      make.loggedRequest(owner.organization.id, { apiKeyId, status, createdAt: daysAgo(days) });
    for (const status of [200, 201, 404, 422, 500]) await log(till.id, status, 1);
    await log(till.id, 200, 6.9);
    await log(till.id, 500, 7.1);
    await log(other.id, 200, 1);
    const { text } = await portal.get(`${base}/keys/${till.id}`, owner.cookie);
    expect(text).toContain('6 requests, 3 errors');
    const [, activity] = new RegExp(`href="(${base}/activity[^"]*)"`).exec(text.slice(text.indexOf('</figure>')))!;
    expect((await portal.get(activity!, owner.cookie)).text).toContain('6 requests, 3 errors');
    expect((await portal.get(`${base}/keys/${other.id}`, owner.cookie)).text).toContain('1 request, 0 errors');
    const unused = await key();
    expect((await portal.get(`${base}/keys/${unused.id}`, owner.cookie)).text).toContain('No requests in the last 7 days.');
  });
});
