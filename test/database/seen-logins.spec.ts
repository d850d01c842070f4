import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { history, WRONG_LOGINS } from './people.js';
import { World } from './world.js';

describe('the logins that an organization sees', () => {
  let world: World;

  beforeAll(async () => {
    world = await World.create();
  }, 60_000);

  afterAll(() => world.destroy());

  it('would be others than those that its rows show, if any trigger were missing', async () => {
    const triggers = await world.all(`SELECT t.tgname AS name, t.tgrelid::regclass::text AS table FROM pg_trigger t
      WHERE t.tgfoid = 'show_logins'::regproc AND t.tgname <> 'show_logins_on_truncate'`);
    expect(triggers).toHaveLength(6);
    for (const { name, table } of triggers) {
      await world.all(`ALTER TABLE ${table as string} DISABLE TRIGGER ${name as string}`);
      await history(world, await world.organization());
      await world.all(`ALTER TABLE ${table as string} ENABLE TRIGGER ${name as string}`);
      expect(await world.all(WRONG_LOGINS), `${table as string}.${name as string}`).not.toEqual([]);
      await world.all('DELETE FROM organization_logins');
      for (const source of ['members', 'parents']) {
        await world.all(`INSERT INTO organization_logins SELECT organization_id, user_id, '${source}' FROM ${source}
          WHERE accepted_at IS NOT NULL`);
      }
    }
    expect(await world.all(WRONG_LOGINS)).toEqual([]);
  }, 60_000);
});
