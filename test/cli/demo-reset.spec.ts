import { loadEnv } from '@app/config';
import { FirstStart } from '../../apps/cli/src/start/first-start.js';
import { runHere } from '../support/process/commands.js';
import { createTestDatabase, urlsOf } from '../support/database/database.js';
import { Factories } from '../support/data/factories.js';
import { fixture } from '../support/process/fixture.js';

const database = await fixture(createTestDatabase());
const make = await fixture(Factories.connect(database));

describe('demo --reset', () => {
  const cli = (...args: string[]) => runHere(args, { ...urlsOf(database), ENCRYPTION_KEY: 'ab'.repeat(32) });
  const demo = (...args: string[]) => cli('demo', '--size', '20', ...args);

  /** Row counts of every table, over all organizations. */
  async function counts(): Promise<Record<string, number>> {
    const tables = await make.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
    );
    const found: Record<string, number> = {};
    for (const { name } of tables) {
      // list_counts holds sums, so its number of rows means nothing.
      if (name === 'list_counts') continue;
      const [row] = await make.query<{ count: number }>(`SELECT count(*)::integer AS count FROM "${name}"`);
      found[name] = row!.count;
    }
    return found;
  }

  it('replaces the demo and everything added to it, and leaves other organizations alone', async () => {
    await cli('org', 'create', '--name', 'Mine', '--slug', 'mine');
    await cli('owner', 'create', '--org', 'mine', '--email', 'owner@example.net');
    await cli('key', 'create', '--org', 'mine', '--name', 'kept');
    const mine = await counts();
    expect(await demo()).toMatchObject({ code: 0, stderr: '' });
    const first = await counts();
    expect(await make.query(`SELECT app_url FROM organizations WHERE slug = 'wattle-lane'`)).toEqual([
      { app_url: 'https://app.wattle-lane.example/' },
    ]);
    await cli('key', 'create', '--org', 'wattle-lane', '--name', 'goes');
    await cli('hook', 'set', '--org', 'wattle-lane', '--url', 'https://site.example/');

    const other = await demo('--seed', '7');
    expect([other.code, other.stdout]).toEqual([1, '']);
    expect(other.stderr).toMatch(/^The organization "wattle-lane" already exists, [^\n]+ demo --reset --seed 7\n$/);
    // The same seed finds its own rows.
    expect(await demo()).toMatchObject({ code: 0 });

    expect(await demo('--reset', '--seed', '7')).toMatchObject({ code: 0, stderr: '' });
    const second = await counts();
    expect({ ...second, ...sizes(first) }).toEqual({ ...first, ...sizes(first) });
    expect((await cli('--json', 'key', 'list', '--org', 'mine')).stdout).toContain('"kept"');
    expect((await cli('--json', 'key', 'list', '--org', 'wattle-lane')).stdout).toBe('');
    expect((await cli('doctor')).stdout).toMatch(/^ok +totals/m);

    // Removing the demo leaves the rows from before it, and the places, which are the operator's.
    const { removeDemo } = await import('../../apps/cli/src/demo/remove-demo.js');
    await removeDemo(database.ownerUrl);
    const { blog_posts: _posts, places: _stay, ...left } = await counts();
    const { blog_posts: _none, places: _were, ...before } = mine;
    expect(left).toEqual(before);
    expect((await cli('doctor')).stdout).toMatch(/^ok +totals/m);
  });

  it('lets the next start go on with a demo of another size', async () => {
    expect(await demo('--reset', '--size', '90')).toMatchObject({ code: 0, stderr: '' });
    const before = await counts();
    const env = loadEnv({ ...urlsOf(database), ENCRYPTION_KEY: 'ab'.repeat(32) }, {});
    await FirstStart.with(env, (first) => first.loadDemo(new AbortController().signal));
    expect(await counts()).toEqual(before);
  });

  /** Tables whose number of rows depends on the seed. */
  function sizes(rows: Record<string, number>): Record<string, number> {
    const fixed = new Set(['organizations', 'members', 'homework', 'invites', 'api_keys', 'rebuild_hooks']);
    return Object.fromEntries(Object.entries(rows).filter(([name]) => !fixed.has(name)));
  }
});
