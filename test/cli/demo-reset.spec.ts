import { loadEnv } from '@app/config';
import { SAMPLE_CATALOGUE, sampleQuestions } from '../../apps/cli/src/demo/sample-questions.js';
import { FirstStart } from '../../apps/cli/src/start/first-start.js';
import { runHere } from '../support/process/commands.js';
import { createTestDatabase, urlsOf } from '../support/database/database.js';
import { Factories } from '../support/data/factories.js';
import { fixture } from '../support/process/fixture.js';

const database = await fixture(createTestDatabase());
const make = await fixture(Factories.connect(database));

describe('demo --reset', () => {
  const cli = (...args: string[]) => runHere(args, { ...urlsOf(database), ENCRYPTION_KEY: 'ab'.repeat(32) });
  const demo = (...args: string[]) => cli('demo', '--size', '12', ...args);

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
    // An operator has questions of their own in a catalogue of the same name.
    await make.row('questions', { catalogue: SAMPLE_CATALOGUE });
    const mine = await counts();
    expect(await demo()).toMatchObject({ code: 0, stderr: '' });
    const first = await counts();
    const [samples] = await make.query(`SELECT count(*)::integer AS count FROM questions WHERE organization_id IS NULL AND catalogue = $1`, [SAMPLE_CATALOGUE]); // prettier-ignore
    expect(samples).toEqual({ count: sampleQuestions().length + 1 });
    expect(await make.query(`SELECT app_url FROM organizations WHERE slug = 'wattle-lane'`)).toEqual([
      { app_url: 'https://app.wattle-lane.example/' },
    ]);
    await cli('key', 'create', '--org', 'wattle-lane', '--name', 'goes');
    await cli('hook', 'set', '--org', 'wattle-lane', '--url', 'https://site.example/');

    const other = await demo('--seed', '7');
    expect([other.code, other.stdout]).toEqual([1, '']);
    expect(other.stderr).toMatch(/^The organization "wattle-lane" already exists, [^\n]+ demo --reset --size 12 --seed 7\n$/);
    for (const size of ['11', '13']) {
      const { code, stderr } = await demo('--size', size);
      expect([code, stderr]).toEqual([1, expect.stringMatching(`already exists, .+ demo --reset --size ${size} --seed 1\n$`)]);
    }
    // The same seed and size find their own rows, and record nothing twice.
    const again = await counts();
    expect(await demo()).toMatchObject({ code: 0 });
    expect(await counts()).toEqual(again);

    expect(await demo('--reset', '--seed', '7')).toMatchObject({ code: 0, stderr: '' });
    const second = await counts();
    expect({ ...second, ...sizes(first) }).toEqual({ ...first, ...sizes(first) });
    expect((await cli('--json', 'key', 'list', '--org', 'mine')).stdout).toContain('"kept"');
    expect((await cli('--json', 'key', 'list', '--org', 'wattle-lane')).stdout).toBe('');
    expect((await cli('doctor', '--deep')).stdout).toMatch(/^ok +totals[^]*^ok +rows/m);

    // Removing the demo leaves the rows from before it, and the places, which are the operator's.
    const { removeDemo } = await import('../../apps/cli/src/dropping.js');
    await removeDemo(database.ownerUrl);
    const { blog_posts: _posts, places: _stay, ...left } = await counts();
    const { blog_posts: _none, places: _were, ...before } = mine;
    expect(left).toEqual(before);
    expect((await cli('doctor')).stdout).toMatch(/^ok +totals/m);
  });

  it('lets the next start go on with a demo of another size', async () => {
    expect(await demo('--reset', '--size', '20')).toMatchObject({ code: 0, stderr: '' });
    const before = await counts();
    const env = loadEnv({ ...urlsOf(database), ENCRYPTION_KEY: 'ab'.repeat(32) }, {});
    await FirstStart.with(env, (first) => first.loadDemo(new AbortController().signal));
    expect(await counts()).toEqual(before);

    // A load that was killed before its last step is finished by the next one.
    await make.query('DELETE FROM payment_allocations');
    await make.query('DELETE FROM payments WHERE recorded');
    expect(await demo('--size', '20')).toMatchObject({ code: 0, stderr: '' });
    expect((await counts()).payments).toBe(before.payments);
  });

  /** Tables whose number of rows depends on the seed. */
  function sizes(rows: Record<string, number>): Record<string, number> {
    const fixed = new Set(['organizations', 'members', 'homework', 'invites', 'api_keys', 'rebuild_hooks']);
    return Object.fromEntries(Object.entries(rows).filter(([name]) => !fixed.has(name)));
  }
});
