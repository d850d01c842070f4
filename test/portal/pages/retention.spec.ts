import { randomUUID } from 'node:crypto';
import { Test } from '@nestjs/testing';
import { loadEnv } from '@app/config';
import { KEPT, type KeptKind, type KeptName, TOLD } from '@app/database';
import { RetentionService } from '../../../apps/worker/src/housekeeping/retention.service.js';
import { WorkerModule } from '../../../apps/worker/src/worker.module.js';
import type { Row } from '../../support/data/sample-rows.js';
import { SHARED } from '../../support/http/api.js';
import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';
import { logTo } from '../../support/process/log-to.js';

const MONTHS = 24;
const portal = await TestPortal.shared();
const { make } = portal;
const env = loadEnv({ ...SHARED, ENCRYPTION_KEY: '5e'.repeat(32), WORKER_DATABASE_URL: portal.database.workerUrl }, {});
const worker = await fixture(Test.createTestingModule({ imports: [WorkerModule.forRoot(env, logTo([]))] }).compile());
const work = () => worker.get(RetentionService).runOnce();

const monthsAgo = (months: number) => {
  const then = new Date();
  then.setUTCMonth(then.getUTCMonth() - months);
  return then;
};
const [OLD, YOUNG] = [monthsAgo(MONTHS + 1), monthsAgo(MONTHS - 1)];
const NAMES = Object.keys(KEPT) as KeptName[];
const kindOf = (name: KeptName): KeptKind => KEPT[name];

/** Somebody who has left, unless they belong. */
const leaver = (at: string, since: Date | null, role: 'student' | 'tutor' = 'student') =>
  make.member(at, since ? { role, status: 'archived', archivedAt: since, acceptedAt: since } : { role });

/** A row of each kind that is as old as `since`. @param more columns that are said by name */
const ROWS: Record<KeptName, (at: string, since: Date, more: Row) => Promise<Row>> = {
  enquiries: (at, since, more) => row('leads', { organization_id: at, name: 'Ada', status: 'lost', updated_at: since, ...more }),
  applications: (at, since, more) => row('booking_requests', { organization_id: at, status: 'declined', updated_at: since, ...more }),
  messages: async (at, since, more) =>
    row('messages', { organization_id: at, conversation_id: await talkOf(at), content: 'Hello', created_at: since, ...more }),
  inbox: (at, since, more) => row('inbox_messages', { organization_id: at, message: 'Hello', created_at: since, ...more }),
  results: async (at, since, more) => {
    const student = (more.student_id as string | undefined) ?? (await leaver(at, since)).id;
    return row('results', { status: 'completed', mode: 'sac', made_by_organization_id: at, ...more, student_id: student });
  },
  feedback: async (at, since, more) =>
    row('session_feedback', { tutor_id: (await make.tutor(at)).id, rating: 5, reviewer_id: (await leaver(at, since)).id, ...more }, at),
};

async function row(table: string, values: Row, writing = ''): Promise<Row> {
  const [stored] = await make.insert(table, [{ id: randomUUID(), ...values }], {}, writing);
  return stored!;
}

const talkOf = async (at: string) => (await make.conversation({ participants: [(await make.tutor(at)).id] })).id;

/** Rows of a kind that are old enough, and stay for a reason of their own. */
const STAYING: Partial<Record<KeptName, (at: string) => Promise<unknown>>> = {
  enquiries: (at) => ROWS.enquiries(at, OLD, { status: 'converted' }),
  applications: (at) => ROWS.applications(at, OLD, { status: 'pending' }),
  results: async (at) => {
    const [elsewhere, student] = [await make.organization(), await leaver(at, OLD)];
    await make.member(elsewhere.id, { user: { id: student.id } });
    const lesson = await make.session(elsewhere.id, { studentId: student.id });
    await make.participant(elsewhere.id, lesson.id, student.id);
    await ROWS.results(at, OLD, { student_id: student.id });
    await ROWS.results(at, OLD, { student_id: (await leaver(at, null)).id });
  },
  feedback: async (at) => {
    await ROWS.feedback(at, OLD, { reviewer_id: (await leaver(at, null)).id });
    const both = await leaver(at, OLD);
    await make.parent(at, { user: { id: both.id }, children: [(await make.student(at)).id] });
    await ROWS.feedback(at, OLD, { reviewer_id: both.id });
  },
};

async function held(at: string): Promise<{ id: string; email: string }> {
  const person = await leaver(at, OLD, 'tutor');
  await make.row('holds', { organizationId: at, userId: person.id, reason: 'A dispute' });
  return person;
}

const idsOf = async (table: string) => new Set((await make.query<{ id: string }>(`SELECT id FROM ${table}`)).map(({ id }) => id));
const everything = async () => new Map(await Promise.all(NAMES.map(async (name) => [name, await idsOf(kindOf(name).table)] as const)));

async function school() {
  const owner = await portal.someone('owner');
  const page = `/o/${owner.organization.slug}/settings/retention`;
  const post = (what: string, form: Record<string, string>) => portal.post(`${page}/${what}`, form, owner.cookie).expect(303);
  const section = async (kind: string) => {
    const { text } = await portal.get(`${page}?kind=${kind}&months=${MONTHS}`, owner.cookie).expect(200);
    return text.split('<section').find((part) => part.includes(`id="${kind}"`))!;
  };
  return { owner, id: owner.organization.id, page, post, section };
}

describe('what is deleted once it is old', () => {
  it.each(NAMES)('%s: exactly what the page said, and nothing that is younger, held, or of another organization', async (name) => {
    const { table, names, addresses = [] } = kindOf(name);
    const [here, there] = [await school(), await school()];
    const going = [await ROWS[name](here.id, OLD, {}), await ROWS[name](here.id, OLD, {})].map(({ id }) => id as string);
    await ROWS[name](here.id, YOUNG, {});
    await ROWS[name](there.id, OLD, {});
    for (const column of names) await ROWS[name](here.id, OLD, { [column]: (await held(here.id)).id });
    for (const column of addresses) await ROWS[name](here.id, OLD, { [column]: (await held(here.id)).email.toUpperCase() });
    if (name === 'messages') {
      const talk = (await make.conversation({ participants: [(await held(here.id)).id, (await make.tutor(here.id)).id] })).id;
      await ROWS.messages(here.id, OLD, { conversation_id: talk });
    }
    await STAYING[name]?.(here.id);

    const before = await everything();
    expect(await work()).toBe(0);
    const shown = await here.section(name);
    expect(shown).toContain('<strong>2</strong> are older than 24 months');
    expect(shown).toContain(
      new Intl.DateTimeFormat('en-AU', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'Australia/Melbourne' }).format(OLD),
    );
    await make.query('SELECT made FROM number_events()');
    await here.post('on', { kind: name, months: String(MONTHS) });
    expect(await work()).toBe(2);
    const after = await everything();
    for (const one of NAMES) expect([one, [...before.get(one)!].filter((id) => !after.get(one)!.has(id))]).toEqual([one, one === name ? going : []]);
    expect(await here.section(name)).toContain('Nothing is older');

    while (Number((await make.query<{ n: string }>('SELECT made AS n FROM number_events()'))[0]!.n) > 0);
    const resource = TOLD.find((one) => one.table === (table === 'results' ? 'organization_results' : table))!.resource;
    const told = await make.query<{ id: string }>(`SELECT resource_id AS id FROM events WHERE type = $1 AND resource_id = ANY ($2)`, [
      `${resource}.deleted`,
      going,
    ]);
    expect(told.map(({ id }) => id).sort()).toEqual(table === 'results' ? [] : going.toSorted());
    const audited = await make.query(`SELECT details FROM audit_log WHERE organization_id = $1 AND operation = 'delete old records'`, [here.id]);
    expect(audited).toEqual([{ details: { kind: name, rows: 2 } }]);

    await here.post('off', { kind: name });
    await ROWS[name](here.id, OLD, {});
    expect(await work()).toBe(0);
    expect(await make.query('SELECT FROM retention_settings WHERE organization_id = $1', [here.id])).toEqual([]);
  });

  it('a result that the organization is shown goes from its list, and is told', async () => {
    const here = await school();
    const student = await make.student(here.id);
    const lesson = await make.session(here.id, { studentId: student.id });
    await make.participant(here.id, lesson.id, student.id);
    const { id } = await ROWS.results(here.id, OLD, { student_id: student.id, completed_at: OLD });
    await make.query(`UPDATE members SET status = 'archived', archived_at = $2 WHERE user_id = $1`, [student.id, OLD]);
    const copies = () => make.query('SELECT FROM organization_results WHERE result_id = $1', [id]);
    expect(await copies()).toHaveLength(1);
    await here.post('on', { kind: 'results', months: String(MONTHS) });
    expect([await work(), await copies()]).toEqual([1, []]);
    while (Number((await make.query<{ n: string }>('SELECT made AS n FROM number_events()'))[0]!.n) > 0);
    expect(await make.query(`SELECT type FROM events WHERE resource_id = $1 AND type = 'result.deleted'`, [id])).toHaveLength(1);
  });

  it('a message that a younger one replies to loses its text, and goes with the last reply', async () => {
    const here = await school();
    const talk = await talkOf(here.id);
    const write = async (since: Date, replyTo: string | null) =>
      (await ROWS.messages(here.id, since, { conversation_id: talk, reply_to_id: replyTo })).id as string;
    const first = await write(OLD, null);
    const second = await write(OLD, first);
    const young = await write(YOUNG, second);
    await here.post('on', { kind: 'messages', months: String(MONTHS) });
    expect(await work()).toBe(2);
    const left = () =>
      make.query('SELECT id, content, deleted_at IS NOT NULL AS deleted FROM messages WHERE conversation_id = $1 ORDER BY created_at, content', [
        talk,
      ]);
    expect((await left()).map(({ content, deleted }) => [content, deleted])).toEqual([['(deleted)', true], ['(deleted)', true], ['Hello', false]]); // prettier-ignore
    expect(await work()).toBe(0);
    await make.query('DELETE FROM messages WHERE id = $1', [young]);
    expect([await work(), await left()]).toEqual([2, []]);
  });

  it('more than one portion goes in one round', async () => {
    const here = await school();
    await make.query(
      `INSERT INTO leads (id, organization_id, name, status, updated_at) SELECT gen_random_uuid(), $1, 'n', 'lost', $2 FROM generate_series(1, 1100)`,
      [here.id, OLD],
    );
    await here.post('on', { kind: 'enquiries', months: String(MONTHS) });
    expect(await work()).toBe(1100);
  });
});

describe('the page', () => {
  it('is for owners, counts with the months that are asked about, and each decision is an audit row', async () => {
    const here = await school();
    const admin = await portal.someone('admin', { organization: here.owner.organization });
    await portal.get(here.page, admin.cookie).expect(404);
    await portal.post(`${here.page}/on`, { kind: 'inbox', months: '3' }, admin.cookie).expect(404);
    await ROWS.inbox(here.id, YOUNG, {});
    expect(await here.section('inbox')).toContain('Nothing is older than 24 months');
    const { text } = await portal.get(`${here.page}?kind=inbox&months=3`, here.owner.cookie).expect(200);
    expect(text).toContain('<strong>1</strong> is older than 3 months');
    for (const months of ['0', '121', '1.5', 'x', '']) await here.post('on', { kind: 'inbox', months });
    await portal.post(`${here.page}/on`, { kind: 'invoices', months: '3' }, here.owner.cookie);
    expect(await make.query('SELECT FROM retention_settings WHERE organization_id = $1', [here.id])).toEqual([]);
    await here.post('on', { kind: 'inbox', months: '30' });
    await here.post('on', { kind: 'inbox', months: '30' });
    await here.post('off', { kind: 'inbox' });
    const audited = (await portal.audited(here.id)).filter(({ operation }) => operation.endsWith('retention'));
    expect(audited.map(({ operation, details }) => [operation, details])).toEqual([
      ['switch on retention', { kind: 'inbox', months: 30 }],
      ['switch off retention', { kind: 'inbox' }],
    ]);
  });
});
