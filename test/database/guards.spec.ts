import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

/** What the database refuses whatever a process asks for. Luck, such as how a moment is rounded, must not let it pass: each is tried often. */
const TRIES = 50;

const schema = await fixture(SchemaFixture.create());
const pools = await fixture(
  Promise.resolve({
    api: new pg.Pool({ connectionString: schema.urls.applicationUrl, max: 1 }),
    portal: new pg.Pool({ connectionString: schema.urls.portalUrl, max: 1 }),
    async stop() {
      await Promise.all([this.api.end(), this.portal.end()]);
    },
  }),
);

const [here, elsewhere] = [await schema.organization(), await schema.organization()];
/** Known to the other organization alone; the second one waits for an answer here. */
const [stranger, asked] = [await schema.member(elsewhere, 'student'), await schema.member(elsewhere, 'student')];
await schema.member(here, 'student', { user: asked, status: 'pending' });
await schema.insert(here, 'parents', { organization_id: here, user_id: asked, status: 'pending' });
const key = randomUUID();
await schema.insert(here, 'api_keys', {
  id: key, organization_id: here, name: 'key', key_hash: Buffer.alloc(32, 7), first_four: 'abcd', last_four: 'abcd',
  revoked_at: '2026-01-01', expires_at: '2026-01-01',
}); // prettier-ignore

const MEMBER = `INSERT INTO members (id, organization_id, user_id, role, status, accepted_at)`;
const PARENT = `INSERT INTO parents (organization_id, user_id, status)`;

/** By what is refused: who asks, and with which statement. */
const REFUSED: Record<string, [who: ('api' | 'portal')[], sql: string]> = {
  'an accepted member': [['api', 'portal'], `${MEMBER} VALUES (gen_random_uuid(), '${here}', '${stranger}', 'student', 'accepted', NULL)`],
  'a member accepted long ago': [
    ['api', 'portal'],
    `${MEMBER} VALUES (gen_random_uuid(), '${here}', '${stranger}', 'student', 'accepted', '2020-01-01')`,
  ],
  'a former member': [['api', 'portal'], `${MEMBER} VALUES (gen_random_uuid(), '${here}', '${stranger}', 'student', 'archived', '2020-01-01')`],
  'an accepted parent': [['api', 'portal'], `${PARENT} VALUES ('${here}', '${stranger}', 'accepted')`],
  'an accepted member who is a parent, too': [
    ['api', 'portal'],
    `WITH p AS (${PARENT} VALUES ('${here}', '${stranger}', 'accepted'))
      ${MEMBER} VALUES (gen_random_uuid(), '${here}', '${stranger}', 'tutor', 'accepted', NULL)`,
  ],
  'the acceptance of a member': [['api', 'portal'], `UPDATE members SET status = 'accepted' WHERE user_id = '${asked}'`],
  'the earlier acceptance of a member': [['api'], `UPDATE members SET status = 'accepted', accepted_at = '2020-01-01' WHERE user_id = '${asked}'`],
  'the acceptance of a parent': [['api', 'portal'], `UPDATE parents SET status = 'accepted' WHERE user_id = '${asked}'`],
  'a row handed to somebody else': [['api'], `UPDATE members SET user_id = '${stranger}', status = 'accepted' WHERE user_id = '${asked}'`],
  'the end of a key put off': [['portal'], `UPDATE api_keys SET expires_at = now() + interval '1 day' WHERE id = '${key}'`],
  'a key without an end': [['portal'], `UPDATE api_keys SET expires_at = NULL WHERE id = '${key}'`],
  'a revoked key revived': [['api', 'portal'], `UPDATE api_keys SET revoked_at = NULL WHERE id = '${key}'`],
};

describe('what no process can do', () => {
  for (const [what, [who, sql]] of Object.entries(REFUSED)) {
    for (const process of who) {
      it(`${what}, as the ${process}, in ${TRIES} tries`, async () => {
        const client = await pools[process].connect();
        const outcomes = new Map<string, number>();
        try {
          for (let attempt = 0; attempt < TRIES; attempt++) {
            await client.query('BEGIN');
            await client.query(`SELECT set_config('app.organization_id', $1, true)`, [here]);
            const outcome = await client.query(sql).then(
              ({ rowCount }) => `passed with ${rowCount} rows`,
              ({ code }: { code: string }) => code,
            );
            outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
            await client.query('ROLLBACK');
          }
        } finally {
          client.release();
        }
        expect(Object.fromEntries(outcomes)).toEqual({ '42501': TRIES });
      });
    }
  }
});

/** Ends and dates: whether one is half a millisecond later makes no difference. */
const AHEAD = /\b(expires_at|link_expires_at|expires|previous_until|leased_until|scheduled_at|starts_at|ends_at)$/;
/** A moment of the past that is compared with now itself, not with a time before or after it. */
const COMPARED =
  /([\w.]+)\s*(?:<=?|>=?|<>|(?<!SET\s[\w.]+\s)=)\s*(?:now\(\)|CURRENT_TIMESTAMP)(?!\s*(?:::|[-+]))|(?:now\(\)|CURRENT_TIMESTAMP)\s*(?:<=?|>=?)\s*([\w.]+)/gi;

/** Columns of timestamptz(3) are rounded: a row that was just written is later than now() half of the time. */
function roundedAgainstNow(text: string): string[] {
  return [...text.matchAll(COMPARED)].flatMap(([all, left, right]) => {
    const column = left ?? right!;
    return AHEAD.test(column) || all.includes(' = ') || !/_at\b|_from\b|\bat$/.test(column) ? [] : [all];
  });
}

describe('moments that were rounded when they were stored', () => {
  it('are compared with now()::timestamptz(3), in functions, policies, triggers and statements', async () => {
    const rows = await schema.all(`
      SELECT proname AS name, prosrc AS text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
      UNION ALL SELECT tablename || '.' || policyname, concat(qual, ' ', with_check) FROM pg_policies WHERE schemaname = 'public'
      UNION ALL SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
      UNION ALL SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'`);
    const sources = ['libs', 'apps'].flatMap((folder) => {
      const root = fileURLToPath(new URL(`../../${folder}`, import.meta.url));
      const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.spec)\.ts$/.test(name));
      return files.map((name) => ({ name, text: readFileSync(join(root, name), 'utf8').replaceAll('Date.now()', '').replaceAll('performance.now()', '') }));
    });
    const found = [...(rows as { name: string; text: string }[]), ...sources].flatMap(({ name, text }) => roundedAgainstNow(text).map((each) => `${name}: ${each}`));
    expect(found).toEqual([]);
  });

  it('are found by that test', () => {
    const planted = ['m.accepted_at < now()', 'now() > created_at', 'revoked_at <= now() AND x', 'valid_from >= CURRENT_TIMESTAMP'];
    expect(planted.filter((each) => roundedAgainstNow(each).length === 0)).toEqual([]);
    const sound = ['accepted_at < now()::timestamptz(3)', "created_at > now() - interval '1 day'", 'expires_at > now()', 'SET seen_at = now()'];
    expect(sound.flatMap(roundedAgainstNow)).toEqual([]);
  });
}); // prettier-ignore
