import { someOf } from '../../support/fuzz/hostile-client.js';
import { JoinFixture, TUTOR } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

const joining = await JoinFixture.shared();

const NOBODY = '018cc251-0000-7000-8000-000000000000';
/** The last millisecond of the year 9999, the next one, and the most digits that a place has. */
const PLACES = [253_402_300_799_999, 253_402_300_800_000, 999_999_999_999_999].map((ms) => `${ms}-${NOBODY}`);
const MOMENTS = ['0000-01-01', '0001-01-01', '2026-02-30', '9999-12-31'].flatMap((day) => [day, `${day}T00:00:00.000Z`, day.slice(0, 7)]);
const VALUES = [...PLACES, ...MOMENTS, '%00', '%ed%a0%80', '-1', '99999999999999999999', '1e9'];

it('no value that somebody could put into the address of a page is an error of the service', async () => {
  const pages = await PeoplePages.open(joining);
  const { id } = pages.provisioning;
  await joining.invite(pages.provisioning, TUTOR);
  const [code] = await joining.sql<{ id: string }>('SELECT id FROM invites WHERE organization_id = $1', id);
  const ids: Record<string, string> = { slug: pages.base.split('/')[2]!, user_id: pages.ownerId, invite_id: code!.id };
  const paths = joining.portal
    .routes()
    .filter(({ method, access }) => method === 'GET' && access === 'managers')
    .map(({ path }) => path.replaceAll(/:([^/]+)/g, (_, name: string) => ids[name] ?? NOBODY));
  const parameters = [
    'after',
    'before',
    'since',
    'day',
    'from',
    'to',
    'page',
    'month',
    'search',
    'days',
    'expiring',
    'person',
    'key',
    'lead',
    'status',
  ];
  const failed: string[] = [];
  for (const [number, path] of paths.entries()) {
    // One value for all parameters: each page reads its own.
    for (const value of someOf(VALUES, number, paths.length, 8)) {
      const at = `${path}?${parameters.map((name) => `${name}=${value}`).join('&')}`;
      const { status } = await pages.owner.get(at);
      if (status >= 500) failed.push(`${status} ${path} ${value}`);
    }
  }
  expect(failed).toEqual([]);
  for (const since of MOMENTS) {
    const { status } = await pages.owner.post(`${pages.base}/codes/${code!.id}/undo`, { since });
    expect([since, status]).toEqual([since, /^(0001|9999)-..-..T/.test(since) ? 303 : 400]);
  }
});
