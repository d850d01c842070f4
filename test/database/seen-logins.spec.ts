import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { history, WRONG_TIES } from './people.js';
import { World } from './world.js';

describe('the logins that an organization sees', () => {
  let world: World;

  beforeAll(async () => {
    world = await World.create();
  }, 60_000);

  afterAll(() => world.destroy());

  it('would not be tied to the rows that show them, if any trigger were missing', async () => {
    const triggers = await world.all(`SELECT t.tgname AS name, t.tgrelid::regclass::text AS table FROM pg_trigger t
      WHERE t.tgfoid = 'tie_logins'::regproc AND t.tgname <> 'tie_logins_on_truncate'`);
    expect(triggers).toHaveLength(9);
    for (const { name, table } of triggers) {
      await world.all(`ALTER TABLE ${table as string} DISABLE TRIGGER ${name as string}`);
      const broken = history(world, await world.organization()).then(
        () => world.all(WRONG_TIES),
        // A tie that was never made cannot be taken off.
        (error: { code: string }) => [error.code],
      );
      expect(await broken, `${table as string}.${name as string}`).not.toEqual([]);
      await world.all(`ALTER TABLE ${table as string} ENABLE TRIGGER ${name as string}`);
      await world.all('DELETE FROM organization_logins');
      for (const source of ['members', 'parents']) {
        await world.all(
          `INSERT INTO organization_logins SELECT organization_id, user_id, '${source}', 1 FROM ${source}`,
        );
      }
      await world.all(`INSERT INTO organization_logins SELECT organization_id, reviewer_id, 'session_feedback', count(*)
        FROM session_feedback WHERE organization_id IS NOT NULL GROUP BY 1, 2`);
      expect(await world.all(WRONG_TIES)).toEqual([]);
    }
  }, 60_000);
});
