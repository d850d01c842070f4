import { fill, insertion, messageRow, resultRow, type Row, seatRow, SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const DENIED = { code: '42501' };

/** The database derives their organization. */
const DERIVED = ['homework', 'session_feedback', 'student_groups'];

const schema = await fixture(SchemaFixture.create());

describe('row security', () => {
  let mine: string;
  let theirs: string;
  let tables: string[];
  /** Tables that belong to people, not to organizations, and are reached only through functions. */
  let closed: string[];
  let withOrganization: string[];

  beforeAll(async () => {
    [mine, theirs] = [await schema.organization(), await schema.organization()];
    await fill(schema, mine);
    await fill(schema, theirs);
    const secured = await schema.all(`SELECT c.relname AS name, EXISTS (SELECT FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attname = 'organization_id') AS owned,
        NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname <> 'upkeep') AS closed
      FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relrowsecurity ORDER BY 1`);
    closed = secured.filter((table) => table.closed).map((table) => table.name as string);
    tables = secured.filter((table) => !table.closed).map((table) => table.name as string);
    withOrganization = secured.filter((table) => table.owned).map((table) => table.name as string);
  });

  async function seen(organizationId: string | null, table: string): Promise<string[]> {
    const rows = await schema.as(organizationId, `SELECT to_jsonb(t)::text AS row FROM ${table} t`);
    return rows.map((row) => row.row as string).sort();
  }

  async function everything(table: string): Promise<string[]> {
    return (await schema.all(`SELECT to_jsonb(t)::text AS row FROM ${table} t`)).map((row) => row.row as string).sort();
  }

  it('shows nothing without an organization', async () => {
    for (const table of [...tables, ...closed]) expect(await seen(null, table), table).toEqual([]);
  });

  it('shows each organization only its own rows, which together are all rows', async () => {
    for (const table of tables) {
      const [ours, others, all] = [await seen(mine, table), await seen(theirs, table), await everything(table)];
      expect(ours.length, table).toBeGreaterThan(0);
      expect(others.length, table).toBeGreaterThan(0);
      expect([...ours, ...others].sort(), table).toEqual(all);
      // No row is in both lists.
      expect(new Set([...ours, ...others]).size, table).toBe(ours.length + others.length);
    }
    for (const table of withOrganization) {
      const owners = await schema.as(mine, `SELECT DISTINCT organization_id FROM ${table}`);
      expect(owners, table).toEqual([{ organization_id: mine }]);
    }
  });

  it('does not grant the application the access of the owner in maintenance', async () => {
    const client = await schema.begin(mine);
    await client.query(`SET LOCAL app.maintenance = 'on'`);
    await client.query('SET LOCAL search_path = public, maintenance, pg_temp');
    for (const table of tables) {
      const { rows } = await client.query<Row>(`SELECT to_jsonb(t)::text AS row FROM ${table} t`);
      expect(rows.map((row) => row.row).sort(), table).toEqual(await seen(mine, table));
    }
    await schema.end(client);
    const anonymous = await schema.begin(null);
    await anonymous.query(`SET LOCAL app.maintenance = 'on'`);
    const { rows } = await anonymous.query<Row>('SELECT count(*)::int AS n FROM members');
    expect(rows).toEqual([{ n: 0 }]);
    await schema.end(anonymous);
  });

  it('applies to the owner, too, except in maintenance', async () => {
    const client = await schema.owner.connect();
    try {
      await client.query(`SET app.maintenance = 'off'`);
      expect((await client.query<Row>('SELECT count(*)::int AS n FROM members')).rows).toEqual([{ n: 0 }]);
    } finally {
      client.release(true);
    }
  });

  it('refuses to write a row of another organization', async () => {
    // A new conversation or login has no organization until members take part in it or the person joins.
    for (const table of tables.filter((name) => name !== 'conversations' && name !== 'users')) {
      const { columns } = (
        await schema.all(
          `SELECT string_agg(attname, ', ') AS columns FROM pg_attribute
         WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
          [table],
        )
      )[0] as { columns: string };
      for (const row of await seen(theirs, table)) {
        const copy = schema.as(mine, `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_record(NULL::${table}, $1)`, [row]);
        await expect(copy, table).rejects.toMatchObject(DENIED);
      }
    }
  });

  it('refuses to move a row to another organization', async () => {
    for (const table of withOrganization) {
      const move = schema.as(mine, `UPDATE ${table} SET organization_id = $1 RETURNING organization_id`, [theirs]);
      // Writes do not change the organization of these.
      if (DERIVED.includes(table)) expect(await move, table).toEqual([{ organization_id: mine }]);
      else await expect(move, table).rejects.toMatchObject(DENIED);
    }
    const give = schema.as(mine, 'UPDATE student_groups SET owner_organization_id = $1', [theirs]);
    await expect(give).rejects.toMatchObject(DENIED);
  });

  it('cannot change or delete another organization’s rows', async () => {
    for (const table of tables) {
      const key = table === 'organizations' ? 'id' : withOrganization.includes(table) ? 'organization_id' : 'id';
      const others = await schema.as(theirs, `SELECT ${key} AS key FROM ${table}`);
      const before = await everything(table);
      const keys = others.map((row) => row.key);
      if (table === 'users') {
        const rename = `UPDATE users SET first_name = 'Mallory' WHERE id = ANY ($1) RETURNING 1`;
        expect(await schema.as(mine, rename, [keys])).toEqual([]);
        expect(await schema.as(mine, 'DELETE FROM users RETURNING 1')).toEqual([]);
        expect(await everything(table)).toEqual(before);
        continue;
      }
      const change = `UPDATE ${table} SET ${key} = ${key} WHERE ${key} = ANY ($1) RETURNING 1`;
      expect(await schema.as(mine, change, [keys]), table).toEqual([]);
      expect(await schema.as(mine, `DELETE FROM ${table} WHERE ${key} = ANY ($1) RETURNING 1`, [keys]), table).toEqual([]);
      expect(await everything(table), table).toEqual(before);
    }
  });

  it('reports suppression only for the addresses it is asked about', async () => {
    await schema.insert(mine, 'suppressions', {
      organization_id: mine,
      email_normalized: 'gone@example.org',
      suppressed_until: '2999-01-01T00:00:00Z',
    });
    const asked = `SELECT suppressed_addresses(ARRAY['gone@example.org', 'there@example.org']) AS address`;
    expect(await schema.as(mine, asked)).toEqual([{ address: 'gone@example.org' }]);
    expect(await schema.as(theirs, asked)).toEqual([]);
    expect(await schema.as(null, `SELECT unsuppress_address('gone@example.org') AS was`)).toEqual([{ was: true }]);
    expect(await schema.as(mine, asked)).toEqual([]);
  });

  it('allows adding to a conversation that nobody sees yet, but not to one that only others see', async () => {
    const theirConversation = (await schema.as(theirs, 'SELECT id FROM conversations'))[0]?.id as string;
    const ourTutor = (await schema.as(mine, `SELECT user_id FROM members WHERE role = 'tutor'`))[0]?.user_id as string;
    for (const { sql, values } of [
      insertion('conversation_participants', seatRow(theirConversation, ourTutor)),
      insertion('messages', messageRow(mine, theirConversation, '2026-03-03T09:00:00Z')),
    ]) {
      await expect(schema.as(mine, sql, values)).rejects.toMatchObject(DENIED);
    }
    const early = await schema.insert(mine, 'conversations', { id: crypto.randomUUID(), type: 'group' });
    await schema.insert(mine, 'messages', messageRow(mine, early, '2026-03-03T09:00:00Z'));
    await schema.insert(mine, 'conversation_participants', seatRow(early, ourTutor));
    // Both see it, so both may add, and each sees what was written in its own name.
    const guest = (await schema.as(theirs, `SELECT user_id FROM members WHERE role = 'tutor'`))[0]?.user_id as string;
    await schema.insert(mine, 'conversation_participants', seatRow(early, guest));
    await schema.insert(theirs, 'messages', messageRow(theirs, early, '2026-03-03T10:00:00Z'));
    expect(await schema.as(theirs, 'SELECT count(*)::int AS n FROM messages WHERE conversation_id = $1', [early])).toEqual([{ n: 1 }]);
  });

  it('accepts results only for members', async () => {
    const stranger = await schema.person();
    const { sql, values } = insertion('results', resultRow(stranger));
    await expect(schema.as(mine, sql, values)).rejects.toMatchObject(DENIED);
  });

  it("shows the platform's posts only if they are asked for", async () => {
    const post = { id: crypto.randomUUID(), brand: 'primary', title: 'Platform', slug: 'platform' };
    const { sql, values } = insertion('blog_posts', post);
    await expect(schema.as(mine, sql, values)).rejects.toMatchObject(DENIED);
    const client = await schema.begin(mine);
    await client.query(`SELECT set_config('app.platform_blog', 'on', true)`);
    await client.query(sql, values);
    await schema.end(client);
    const posts = `SELECT count(*)::int AS n FROM blog_posts WHERE organization_id IS NULL`;
    expect(await schema.as(mine, posts)).toEqual([{ n: 0 }]);
    const again = await schema.begin(mine);
    await again.query(`SELECT set_config('app.platform_blog', 'on', true)`);
    expect((await again.query(posts)).rows).toEqual([{ n: 1 }]);
    await schema.end(again);
  });

  it('allows look-ups before the organization is known, only by an exact key', async () => {
    const [key] = await schema.as(mine, 'SELECT id, key_hash FROM api_keys');
    expect(await schema.as(null, 'SELECT organization_id, expired FROM api_key_by_hash($1)', [key?.key_hash])).toEqual([
      { organization_id: mine, expired: false },
    ]);
    expect(await schema.as(null, 'SELECT * FROM api_key_by_hash($1)', [Buffer.alloc(32)])).toEqual([]);
    expect(await schema.as(null, 'SELECT organization_by_slug($1) AS id', [`school-${mine}`])).toEqual([{ id: mine }]);
    expect(await schema.as(null, 'SELECT organization_of_api_key($1) AS id', [key?.id])).toEqual([{ id: mine }]);
    const [login] = await schema.as(mine, 'SELECT id, email_normalized AS email FROM users LIMIT 1');
    const addresses = [login?.email, 'nobody@example.org'];
    expect(await schema.as(null, 'SELECT * FROM logins_by_email($1)', [addresses])).toEqual([login]);
  });
});
