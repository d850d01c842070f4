import { randomBytes } from 'node:crypto';
import { chartOf } from '../../../apps/portal/src/activity/chart.js';
import { TestApi } from '../../support/http/api.js';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const ENCRYPTION_KEY = randomBytes(32).toString('hex');

const portal = await fixture(TestPortal.start({ ENCRYPTION_KEY }));
const api = await fixture(TestApi.start({ ENCRYPTION_KEY, REQUEST_LOG: 'true' }, portal.database));
const owner = await portal.someone('owner');

const pathOf = ({ organization }: Someone) => `/o/${organization.slug}/activity`;

/** A key and some requests with it. */
async function requests(someone: Someone, paths: string[], name = 'Website'): Promise<{ id: string; key: string }> {
  const made = await api.keys.create(someone.organization.id, { name });
  for (const path of paths) await api.get(path, made.key);
  await api.writeRequestLog();
  return made;
}

/** The requests that a page shows: method, route, status. */
function shown(html: string): string[] {
  const cells = /<td role="cell"><span class="mono">(\w+) ([^]*?)<\/span>\s*<div[^]*?<span class="chip \w*">(\d+)<\/span>/g;
  return [...html.matchAll(cells)].map(([, method, route, status]) => `${method} ${route!.replaceAll(/<[^>]+>/g, '')} ${status}`);
}

describe('Activity', () => {
  it('explains what to do if there are no requests, with the URL of the API', async () => {
    const { text } = await portal.get(pathOf(owner), owner.cookie).expect(200);
    expect(text).toContain('No requests yet');
    expect(text).toContain('/v1/ping');
    expect(text).not.toContain('<svg');
  });

  it('shows requests newest first, filtered by key, status and route', async () => {
    const someone = await portal.someone('admin');
    const [first, second] = [
      await requests(someone, ['/v1/ping', '/v1/students?limit=0']),
      await requests(someone, ['/v1/ping'], 'Other & <b>bold</b>'),
    ];
    const look = async (query: string) => {
      const { text } = await portal.get(`${pathOf(someone)}${query}`, someone.cookie).expect(200);
      return shown(text);
    };
    const all = ['GET /v1/ping 200', 'GET /v1/students 422', 'GET /v1/ping 200'];
    expect(await look('')).toEqual(all);
    expect(await look(`?key=${first.id}&status=&route=`)).toEqual(all.slice(1));
    expect(await look(`?key=${second.id}`)).toEqual(all.slice(0, 1));
    expect(await look('?status=4xx')).toEqual([all[1]]);
    expect(await look('?status=200')).toEqual([all[0], all[2]]);
    expect(await look('?route=/v1/students')).toEqual([all[1]]);
    expect(await look('?status=5xx')).toEqual([]);
    // Invalid filters are ignored.
    for (const query of ['?key=x', '?status=9xx', '?route=%00', '?route=a&route=b', '?key[]=1', '?before=never', '?before=1-1', '?x=1'])
      expect([query, await look(query)]).toEqual([query, all]);
    const { text } = await portal.get(pathOf(someone), someone.cookie);
    expect(text).toContain('Other &amp; &lt;b&gt;bold');
    expect(text).toContain('3 requests');
    expect(text).toContain('1 error');
  });

  it('pages by keyset: new requests neither repeat nor hide others', async () => {
    const someone = await portal.someone('owner');
    const { id: apiKeyId } = await api.keys.create(someone.organization.id, { name: 'Busy' });
    for (let n = 0; n < 120; n++) {
      // Five share each millisecond.
      const createdAt = new Date(Date.now() - 60_000 - Math.floor(n / 5));
      await portal.make.loggedRequest(someone.organization.id, { apiKeyId, requestId: `r${n}`, createdAt });
    }
    const add = () => portal.make.loggedRequest(someone.organization.id, { apiKeyId, requestId: 'new' });
    const text = await portal.walk(pathOf(someone), someone.cookie, 'Older<', add);
    const seen = [...text.matchAll(/<span class="mono">(r\d+)<\/span>/g)].map(([, id]) => id);
    expect(seen).toHaveLength(120);
    expect(new Set(seen).size).toBe(120);
  });

  it('never shows another organization’s activity, whatever the filter', async () => {
    const [mine, theirs] = [await portal.someone('owner'), await portal.someone('owner')];
    const { id } = await requests(theirs, ['/v1/ping']);
    const { text } = await portal.get(`${pathOf(mine)}?key=${id}`, mine.cookie).expect(200);
    expect(shown(text)).toEqual([]);
    expect(text).not.toContain('Website');
  });

  it('shows the last 7 days only', async () => {
    const someone = await portal.someone('owner');
    const createdAt = new Date(Date.now() - 7 * 86_400_000 - 60_000);
    await portal.make.loggedRequest(someone.organization.id, { createdAt });
    expect((await portal.get(pathOf(someone), someone.cookie)).text).toContain('No requests yet');
  });
});

describe('the chart', () => {
  it('ends at the current hour and marks midnights in the time zone', () => {
    // 14:40 in Adelaide, half an hour off UTC's hours.
    const now = new Date('2026-07-10T05:10:00Z');
    const hours = [
      { start: new Date('2026-07-03T04:30:00Z'), requests: 2, errors: 0 },
      { start: new Date('2026-07-10T04:30:00Z'), requests: 4, errors: 1 },
    ];
    const chart = chartOf(hours, 'Australia/Adelaide', now);
    expect(chart.bars.map(({ x }) => Number(x))).toEqual([0, expect.closeTo((168 / 169) * 100, 2)]);
    expect(chart.bars.map(({ requests, errors }) => [requests, errors])).toEqual([[60, 0], [120, 30]]); // prettier-ignore
    expect(chart.days).toHaveLength(7);
    expect(chart.days.at(-1)).toMatchObject({ weekday: 'Fri', day: '10' });
    expect(chart).toMatchObject({ most: 4, total: 6, errors: 1 });
  });
});
