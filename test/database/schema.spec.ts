import { randomBytes, randomUUID } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as schema from '@app/database';
import { connect, entities, migrate, revertLast } from '@app/database';
import { createEmptyDatabase } from '../support/database/database.js';
import { ownersPool, World } from './world.js';

/** TypeORM's own. */
const NOT_OURS = ['migrations', 'typeorm_metadata'];

/** Copies that the database writes: what they hold was checked where it came from. */
const COPIES = ['organization_results', 'organization_conversations', 'session_students', 'list_counts'];

/** Rows that their writer may not be allowed to see: TypeORM must not ask for them back, see the entities. */
const NOT_RETURNED = [
  'student_groups', 'homework', 'session_feedback', 'results', 'conversations', 'conversation_participants',
]; // prettier-ignore

/** Columns that take one of a few words. */
const CLOSED =
  /^(status|role|type|scope|scopes|mode|attendance|visibility|billing_interval|tracking_method|.*_(type|mode|role))$/;

const COLUMNS = `
  SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable,
    a.attgenerated <> '' AS generated, a.atthasdef AND a.attgenerated = '' AS defaulted,
    coalesce(a.attnum = ANY (k.conkey), false) AS key
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> ALL ($1) ORDER BY 1, 2`;

interface SchemaColumn {
  table: string;
  name: string;
  type: string;
  nullable: boolean;
  generated: boolean;
  defaulted: boolean;
  key: boolean;
}

/** Everything that the migrations make, as text. */
const FINGERPRINT = `
  SELECT 'column ' || attrelid::regclass || '.' || attname || ' ' || format_type(atttypid, atttypmod) || attnotnull AS line
  FROM pg_attribute WHERE attnum > 0 AND attrelid IN (
    SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r')
  UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT 'function ' || pg_get_functiondef(oid) || proacl::text
  FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT 'policy ' || concat_ws(' ', tablename, policyname, roles::text, qual, with_check) FROM pg_policies
  UNION ALL SELECT 'table ' || relname || relrowsecurity || relforcerowsecurity FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
  ORDER BY 1`;

describe('the schema', () => {
  let world: World;
  let dataSource: DataSource;
  let columns: SchemaColumn[];

  beforeAll(async () => {
    world = await World.create();
    dataSource = await connect({ url: world.urls.tenantUrl, poolSize: 2, applicationName: 'tutoring tests' });
    columns = (await world.all(COLUMNS, [NOT_OURS])) as unknown as SchemaColumn[];
  }, 60_000);

  afterAll(async () => {
    await dataSource.destroy();
    await world.destroy();
  });

  describe('and the entities', () => {
    it('have the same tables and columns', () => {
      const described = dataSource.entityMetadatas.flatMap((entity) =>
        entity.columns.map((column) => ({
          table: entity.tableName,
          name: column.databaseName,
          type: typeOf(column),
          nullable: column.isNullable,
          generated: !column.isInsert && !column.isUpdate,
          key: column.isPrimary,
        })),
      );
      const byName = (a: { table: string; name: string }, b: { table: string; name: string }): number =>
        `${a.table} ${a.name}` < `${b.table} ${b.name}` ? -1 : 1;
      expect(described.sort(byName)).toEqual(columns.map(({ defaulted: _, ...column }) => column).sort(byName));
    });

    it('agree on what may be left out', () => {
      const defaulted = dataSource.entityMetadatas.flatMap((entity) =>
        entity.columns
          .filter((column) => column.default !== undefined)
          .map((column) => `${entity.tableName}.${column.databaseName}`),
      );
      const expected = columns.filter((column) => column.defaulted && !NOT_RETURNED.includes(column.table));
      expect(defaulted.sort()).toEqual(expected.map((column) => `${column.table}.${column.name}`).sort());
    });

    it('are all listed', () => {
      const classes = Object.values(schema).filter((it) => entities.includes(it as never));
      expect(classes).toHaveLength(entities.length);
    });

    it('store and read back every kind of value', async () => {
      const [organizationId, person] = [await world.organization(), await world.person()];
      await inTenant(organizationId, async (manager) => {
        await manager.insert(schema.Member, { id: randomUUID(), organizationId, userId: person, role: 'student' });
        const id = randomUUID();
        const period = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
        await manager.insert(schema.Adjustment, { id, organizationId, tutorId: person, ...period, amountCents: -1e12 });
        expect(await manager.findOneByOrFail(schema.Adjustment, { id })).toMatchObject({
          ...period,
          amountCents: -1e12,
          note: null,
          voided: false,
          createdAt: expect.any(Date) as Date,
        });
        const keyHash = randomBytes(32);
        const key = { id, organizationId, name: 'Site', keyHash, firstFour: 'abcd', lastFour: '0123' };
        await manager.insert(schema.ApiKey, key);
        expect(await manager.findOneByOrFail(schema.ApiKey, { keyHash })).toMatchObject({ ...key, scopes: ['read'] });
        const post = { id, organizationId, brand: 'primary', title: 'News', slug: 'news', tags: ['a', 'b,"c'] };
        await manager.insert(schema.BlogPost, { ...post, date: '2026-03-01' });
        expect(await manager.findOneByOrFail(schema.BlogPost, { id })).toMatchObject({ ...post, date: '2026-03-01' });
        const profile = { organizationId, userId: person, homeLat: -37.8136, homeLng: 144.9631 };
        await manager.insert(schema.TutorProfile, profile);
        expect(await manager.findOneByOrFail(schema.TutorProfile, { userId: person })).toMatchObject(profile);
      });
    });

    it('are inserted without being asked back where the writer may not see them', async () => {
      const [organizationId, other] = [await world.organization(), await world.organization()];
      const userId = await world.member(organizationId, 'tutor');
      await world.member(other, 'tutor', { user: userId });
      const row = { id: randomUUID() };
      await inTenant(organizationId, async (manager) => {
        const homework = { ...row, assignedBy: userId, title: 'Fractions', files: ['a.pdf'] };
        await manager.insert(schema.Homework, { ...homework, homeworkType: 'text', scope: 'student' });
        await manager.insert(schema.SessionFeedback, { ...row, tutorId: userId, rating: 5, legacy: true });
        await manager.insert(schema.SessionFeedback, { id: randomUUID(), tutorId: userId, rating: 4, comment: 'Good' });
        await manager.insert(schema.StudentGroup, { ...row, tutorId: userId, name: 'Group' });
        await manager.insert(schema.Result, { ...row, studentId: userId, status: 'submitted', mode: 'sac' });
        await manager.insert(schema.Conversation, { ...row, type: 'direct' });
        const seat = { ...row, conversationId: row.id, userId, role: 'tutor' } as const;
        await manager.insert(schema.ConversationParticipant, seat);
        const feedback = await manager.findOneByOrFail(schema.SessionFeedback, { tutorId: userId });
        expect(feedback).toMatchObject({
          organizationId,
          rating: 4,
          hasComment: true,
          positiveTags: [],
          legacy: false,
        });
        expect(await manager.countBy(schema.Homework, {})).toBe(0);
      });
      const [homework] = await world.all('SELECT organization_id, files, created_at FROM homework');
      expect(homework).toMatchObject({ organization_id: null, files: ['a.pdf'], created_at: expect.any(Date) as Date });
    });

    async function inTenant(organizationId: string, work: (manager: EntityManager) => Promise<void>): Promise<void> {
      await dataSource.transaction(async (manager) => {
        await manager.query(`SELECT set_config('app.organization_id', $1, true)`, [organizationId]);
        await work(manager);
      });
    }
  });

  it('secures every table that belongs to an organization, for the owner too', async () => {
    const tables = await world.all(`
      SELECT c.relname AS name, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced,
        EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'tenant' AND p.polroles = '{0}') AS tenant
      FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND (c.relname IN ('organizations',
          'users', 'results', 'conversations', 'conversation_participants', 'messages', 'student_group_members')
        OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'organization_id'))`);
    expect(tables.length).toBeGreaterThanOrEqual(30);
    for (const table of tables) {
      expect(table).toEqual({ name: table.name, enabled: true, forced: true, tenant: true });
    }
    // All that is left out: heartbeats belong to nobody; refused addresses, passwords and sessions are behind functions (see
    // row security).
    const open = [...new Set(columns.map((column) => column.table))].filter(
      (name) => !tables.some((table) => table.name === name),
    );
    expect(open).toEqual(['credentials', 'portal_sessions', 'sign_in_attempts', 'suppressions', 'worker_heartbeats']);
  });

  it('keeps times to the millisecond, as JavaScript does', () => {
    const times = columns.filter((column) => column.type.startsWith('timestamp'));
    expect(new Set(times.map((column) => column.type))).toEqual(new Set(['timestamp(3) with time zone']));
  });

  it('checks every closed set of values', async () => {
    const closed = columns.filter(
      (column) => CLOSED.test(column.name) && column.type.startsWith('text') && !COPIES.includes(column.table),
    );
    expect(closed.length).toBeGreaterThanOrEqual(30);
    const checks = await world.all(`SELECT k.conrelid::regclass || '.' || a.attname AS column
      FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
      WHERE k.contype = 'c' AND pg_get_constraintdef(k.oid) LIKE '%ARRAY[%'`);
    const checked = checks.map((check) => check.column);
    for (const column of closed) expect(checked).toContain(`${column.table}.${column.name}`);
  });

  it('bounds every amount of money below 2^53', async () => {
    const amounts = columns.filter((column) => column.type === 'bigint');
    expect(amounts.every((column) => /_cents$/.test(column.name))).toBe(true);
    const bounded = await world.all(`SELECT k.conrelid::regclass || '.' || a.attname AS column
      FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND k.conkey = ARRAY[a.attnum]
      WHERE k.contype = 'c' AND pg_get_constraintdef(k.oid) LIKE '%<= ''1000000000000''%'`);
    expect(bounded.map((check) => check.column).sort()).toEqual(
      amounts.map((column) => `${column.table}.${column.name}`).sort(),
    );
  });

  it('pins the search path of what runs with the rights of the owner', async () => {
    const functions = await world.all(
      `SELECT proname AS name, proconfig AS settings FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef`,
    );
    expect(functions.length).toBeGreaterThan(10);
    for (const { name, settings } of functions) {
      // pg_temp last, or a temporary table would stand in for a real one.
      expect(settings, name as string).toEqual(['search_path=public, maintenance, pg_temp']);
    }
  });

  it('goes down step by step and comes up again the same', async () => {
    const database = await createEmptyDatabase();
    const { ownerUrl, processUrls: urls } = database;
    const owner = ownersPool(ownerUrl);
    const fingerprint = async (): Promise<string[]> =>
      (await owner.query<{ line: string }>(FINGERPRINT)).rows.map((row) => row.line);
    try {
      const names = await migrate(ownerUrl, urls);
      const before = await fingerprint();
      const reverted: string[] = [];
      for (let name = await revertLast(ownerUrl, urls); name; name = await revertLast(ownerUrl, urls))
        reverted.push(name);
      expect(reverted).toEqual([...names].reverse());
      expect((await fingerprint()).filter((line) => !line.includes('migrations'))).toEqual([]);
      expect(await migrate(ownerUrl, urls)).toEqual(names);
      expect(await fingerprint()).toEqual(before);
    } finally {
      await owner.end();
      await database.drop();
    }
  }, 60_000);
});

function typeOf(column: { type: unknown; precision?: number | null; isArray: boolean }): string {
  const type = String(column.type).replace('timestamp', `timestamp(${column.precision})`);
  return column.isArray ? `${type}[]` : type;
}
