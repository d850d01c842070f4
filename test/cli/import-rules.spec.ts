import { randomUUID as id } from 'node:crypto';
import { loadEnv } from '@app/config';
import { FIELDS, type Fault, type Kind, type Schema } from '@app/fields';
import { NAMED } from '@app/people';
import type { ImportError } from '../../apps/cli/src/import/importer.js';
import { ROW_RULES } from '../../apps/cli/src/import/row-rules.js';
import { TABLES } from '../../apps/cli/src/import/tables.js';
import { TestApi } from '../support/http/api.js';
import { ImportFixture } from '../support/data/import-fixture.js';
import { readColumns } from '../support/database/columns.js';
import type { Row } from '../support/database/schema-fixture.js';
import { fieldsOfBody } from '../support/http/valid-bodies.js';
import { writesOf } from '../support/http/record-for.js';
import { fixture } from '../support/process/fixture.js';

const imports = await fixture(ImportFixture.open());
const api = await fixture(TestApi.start());
const env = loadEnv({}, {});
const kinds = FIELDS as Record<string, Record<string, Kind>>;

/** Values that break the rules of a kind, one each. */
function breaking({ type, format, pattern, minLength, maxLength, minimum, maximum, maxItems, uniqueItems, items }: Schema): unknown[] {
  if (type === 'integer') return [Number(minimum) - 1, Number(maximum) + 1, 0.5, '1'];
  if (type === 'object') return [[], 'x', { a: 'x'.repeat(300_000) }];
  if (type === 'array') {
    const bad = breaking(items as Schema).map((item) => [item]);
    const many = Array.from({ length: Number(maxItems) + 1 }, (_, place) => (uniqueItems ? id() : `x${place}`));
    return [...bad, many, 'x'];
  }
  if (format === 'date-time') return ['2026-05-01T09:30:30Z', 'tomorrow'];
  if (format === 'uuid') return ['x'];
  return [
    7,
    'a\0b',
    ...(maxLength === undefined ? [] : ['a'.repeat(Number(maxLength) + 1)]),
    ...(minLength ? ['', '\u200b', ' \u2800 '] : []),
    ...(format === 'uri' ? ['javascript:alert(1)', 'https://'] : []),
    ...(pattern !== undefined && pattern !== '\\S' ? ['INV-1234567890123456', '!'] : []),
  ];
}

const wordsOf = (fault: unknown): string => {
  const { msg } = ((fault as { list?: Fault[] }).list?.[0] ?? fault) as Fault;
  return msg[0]!.toLowerCase() + msg.slice(1).replace(/\.$/, '');
};

describe('an import keeps the rules of the API', () => {
  beforeEach(() => imports.renew());

  it('for each column that a request writes, with its words', async () => {
    const imported = Object.keys(kinds).filter((table) => (TABLES as readonly string[]).includes(table));
    const cases = imported.map((table) => [table, kinds[table]!] as const).flatMap(([table, columns]) =>
      Object.entries(columns).flatMap(([column, kind]) =>
        breaking(kind.schema)
          .map((value) => ({ table, column, value, fault: kind.parse(value, env) }))
          .filter(({ fault }) => typeof fault === 'object' && fault !== null && ('msg' in fault || 'list' in fault)),
      ),
    );
    expect(cases.length).toBeGreaterThan(300);
    const missed: string[] = [];
    for (const table of imported) {
      const own = cases.filter((one) => one.table === table);
      const thrown: unknown = await imports.load({ [table]: own.map(({ column, value }) => ({ [column]: value })) }).catch((error: unknown) => error);
      const { faults } = thrown as ImportError;
      for (const [place, { column, value, fault }] of own.entries()) {
        const found = faults.find(({ line, field }) => line === place + 1 && field === column);
        const isTold = found?.file === `${table}.ndjson` && found.message.endsWith(wordsOf(fault));
        if (!isTold) missed.push(`${table}.${column} ${JSON.stringify(value).slice(0, 40)}: ${found?.message ?? 'accepted'}, not ${wordsOf(fault)}`);
      }
    }
    expect(missed).toEqual([]);
  }); // prettier-ignore

  it('trims what the API trims', async () => {
    await imports.load({ classrooms: [{ id: id(), name: ' Room 1 ' }] });
    expect(await imports.rows('SELECT name FROM classrooms')).toEqual([{ name: 'Room 1' }]);
  });

  it('and no field of a request has bounds of its own', async () => {
    const columns = await readColumns((sql) => imports.database.all(sql));
    const found = writesOf(api).flatMap((route) =>
      fieldsOfBody(route).flatMap(([field, schema]) => {
        const bounded = ['maxLength', 'minimum', 'maxItems', 'pattern'].some((name) => name in schema) && !schema.enum && schema.format !== 'id-or-code';
        const tables = TABLES_OF[route.path.split('/')[2]!] ?? [];
        const own = columns.filter(({ table, name }) => tables.includes(table) && name === field);
        return bounded ? own.filter(({ table, name }) => !kinds[table]?.[name]).map(({ table }) => `${route.method} ${route.path}: ${table}.${field}`) : [];
      }),
    );
    expect(found).toEqual([]);
  }); // prettier-ignore

  it('nothing that must have characters may be invisible', async () => {
    const columns: Row[] = await imports.database.all(`SELECT c.relname || '.' || a.attname AS name FROM pg_constraint k
      JOIN pg_class c ON c.oid = k.conrelid JOIN pg_attribute a ON a.attrelid = c.oid AND k.conkey = ARRAY[a.attnum]
      WHERE k.contype = 'c' AND c.relname = ANY ('{${TABLES.join()}}') AND pg_get_constraintdef(k.oid) ~ 'char_length\\(\\w+\\) >= 1'`);
    const open = columns.map(({ name }) => String(name)).filter((name) => !kinds[name.split('.')[0]!]?.[name.split('.')[1]!]);
    // A command names the catalogue, and files cannot say that money was taken back.
    expect(open.sort()).toEqual(['payments.void_reason', 'payouts.void_reason', 'questions.catalogue']);
  }); // prettier-ignore

  it('each column that names a person says who it may be', async () => {
    const columns = (await readColumns((sql) => imports.database.all(sql))).filter(({ table }) => TABLES.includes(table));
    const people = columns.filter(({ reference }) => ['members', 'users', 'parents'].includes(reference?.table ?? ''));
    const unknown = people.filter(({ name }) => !NAMED[name] && name !== 'organization_id').map(({ table, name }) => `${table}.${name}`);
    expect(unknown.sort()).toEqual(ANYBODY.sort());
  });
});

/** What the routes below a first segment write. */
const TABLES_OF: Record<string, string[]> = {
  students: ['users', 'members'], tutors: ['users', 'tutor_profiles', 'availabilities', 'time_off'], parents: ['users'], users: ['users', 'tutor_profiles'],
  classrooms: ['classrooms'], groups: ['student_groups'], sessions: ['sessions'], 'session-series': ['sessions'],
  'lesson-participants': ['lesson_participants'], leads: ['leads'], 'booking-requests': ['booking_requests'], 'lesson-plans': ['lesson_plans'],
  questions: ['questions'], messages: ['messages'], adjustments: ['adjustments'], payouts: ['payouts'], invoices: ['invoice_lines'],
  payments: ['payments'], expenses: ['expense_claims'], mileage: ['mileage_trips'], 'blog-posts': ['blog_posts'], locations: ['locations'],
  subjects: ['subjects'], 'rate-bands': ['rate_bands'], 'tutor-tiers': ['tutor_tiers'], 'rate-cells': ['rate_cells'], homework: ['homework'], files: ['files'],
  results: ['results'], 'session-feedback': ['session_feedback'], conversations: ['conversations'], 'org-inbox': ['inbox_messages'],
}; // prettier-ignore

/** Columns that name people whom a role or another table determines. */
const ANYBODY = [
  'classroom_members.user_id', 'conversation_participants.user_id', 'files.owner_id', 'inbox_messages.from_user_id', 'invoices.billed_parent_id', 'members.user_id',
  'messages.sender_id', 'parent_students.parent_id', 'parents.user_id', 'payments.parent_id', 'session_feedback.reviewer_id',
  'student_group_members.user_id', 'tutor_profiles.user_id',
]; // prettier-ignore

describe('rules about several rows', () => {
  const broken = new Set<string>();

  /** Loads a school with these rows as well. @returns the faults, without their lines */
  async function faultsWith(
    more: (at: { T: string; S: string; P: string; school: typeof imports.school }) => Record<string, Row[]>,
  ): Promise<string[]> {
    await imports.renew();
    const { school } = imports;
    const parent = school.userRow('parent');
    const at = { T: String(school.tutor.id), S: String(school.student.id), P: String(parent.id), school };
    const base = school.with({ users: [parent], parents: [{ user_id: parent.id }], parent_students: [{ parent_id: at.P, student_id: at.S }] });
    const files = { ...base };
    for (const [table, rows] of Object.entries(more(at))) files[table] = [...(files[table] ?? []), ...rows];
    const faults = await imports.faultsOf(files);
    const plain = faults.map((fault) => fault.replace(/\.ndjson:\d+: /, ' '));
    for (const fault of plain) broken.add(fault);
    return plain;
  }

  const HOUR = { starts_at: '2026-05-01T01:00:00Z', ends_at: '2026-05-01T02:00:00Z', duration_minutes: 60 };
  const invoice = (student_id: string, more: Row = {}): Row => ({ id: id(), student_id, status: 'open', invoice_number: 'INV-000007', amount_due_cents: 500, currency: 'AUD', ...more }); // prettier-ignore
  const payment = (more: Row): Row => ({ id: id(), amount_cents: 100, currency: 'AUD', payment_type: 'cash', status: 'succeeded', ...more });
  const soon = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 16) + ':00Z';
  const later = new Date(Date.parse(soon) + 3_600_000).toISOString();
  const line = (invoice_id: unknown, amount_cents: number): Row => ({ id: id(), invoice_id, position: 0, quantity: 1, unit_amount_cents: amount_cents, amount_cents }); // prettier-ignore

  it.each<[string, Parameters<typeof faultsWith>[0], string[]]>([
    ['an hour that says ten', ({ T, S }) => ({ sessions: [{ id: id(), tutor_id: T, student_id: S, ...HOUR, duration_minutes: 600 }] }), ['sessions duration_minutes: must be the minutes from starts_at to ends_at']],
    ['an invoice over-paid', ({ S }) => ({ invoices: [invoice(S, { amount_due_cents: 100, amount_paid_cents: 1000, status: 'paid' })] }), ['invoices amount_paid_cents: must not be more than amount_due_cents']],
    ['an open invoice that is paid', ({ S }) => ({ invoices: [invoice(S, { amount_paid_cents: 500 })] }), ['invoices amount_paid_cents: must be less than amount_due_cents while status is open']],
    ['an open invoice over nothing', ({ S }) => ({ invoices: [invoice(S, { amount_due_cents: 0 })] }), ['invoices amount_paid_cents: must be less than amount_due_cents while status is open']],
    ['an open invoice without a number, beside another fault', ({ S }) => ({ invoices: [invoice(S, { invoice_number: null }), invoice(S, { currency: 'x' })] }), ['invoices invoice_number: must not be null unless status is draft', 'invoices currency: must be an ISO 4217 code']],
    ['a refund above its payment', ({ S }) => ({ payments: [payment({ student_id: S, refund_amount_cents: 5000 })] }), ['payments refund_amount_cents: must not be more than amount_cents']],
    ['a payment of nobody', () => ({ payments: [payment({})] }), ['payments student_id: send one of: student_id, parent_id']],
    ['a file without an address', () => ({ files: [{ id: id(), scope: 'org', title: 'Surds', resource_type: 'file' }] }), ['files file_url: must be given with the resource type file']],
    ['a trip of tomorrow', ({ T }) => ({ mileage_trips: [{ id: id(), tutor_id: T, trip_date: soon.slice(0, 10), distance_km: 1 }] }), ['mileage_trips trip_date: must not be later than today']],
    ['a trip that is approved without an amount', ({ T }) => ({ mileage_trips: [{ id: id(), tutor_id: T, trip_date: '2026-05-01', distance_km: 1, status: 'approved' }] }), ['mileage_trips amount_cents: must be given unless status is logged or rejected']],
    ['claims of lessons that are not theirs, or ahead', ({ T, school }) => { const bob = school.userRow('bob'); const [bobs, own] = [{ id: id(), tutor_id: bob.id, ...HOUR }, { id: id(), tutor_id: T, starts_at: soon, ends_at: later, duration_minutes: 60 }]; const trip = { tutor_id: T, trip_date: '2026-05-01', distance_km: 1 }; const expense = { tutor_id: T, expense_date: '2026-05-01', amount_cents: 1 }; return { users: [bob], members: [school.memberRow(bob, 'tutor')], sessions: [bobs, own], mileage_trips: [bobs, own].map((one) => ({ id: id(), ...trip, session_id: one.id })), expense_claims: [bobs, own].map((one) => ({ id: id(), ...expense, session_id: one.id })) }; }, ['expense_claims session_id: must be a session of this tutor', 'expense_claims session_id: must be a session that has begun', 'mileage_trips session_id: must be a session of this tutor', 'mileage_trips session_id: must be a session that has begun']],
    ['a payout of tomorrow', ({ T }) => ({ payouts: [{ id: id(), tutor_id: T, amount_cents: 1, currency: 'AUD', paid_at: soon }] }), ['payouts paid_at: must not be in the future']],
    ['a pay without its number', () => ({ rate_cells: [{ id: id(), tutor_pay_mode: 'flat' }] }), ['rate_cells tutor_flat_rate_cents: must be given if tutor_pay_mode is flat']],
    ['a price for what', () => ({ classrooms: [{ id: id(), name: 'x', price_cents: 1 }] }), ['classrooms billing_interval: must be given with price_cents']],
    ['names in another case', () => { const rows = ['Éva 7', 'ÉVA 7'].map((name) => ({ id: id(), name })); return { subjects: rows, rate_bands: rows, tutor_tiers: rows }; }, ['rate_bands name: is taken by another rate band of this organization', 'subjects name: is taken by another subject of this organization', 'tutor_tiers name: is taken by another tutor tier of this organization']],
    ['an expense of tomorrow', ({ T }) => ({ expense_claims: [{ id: id(), tutor_id: T, expense_date: soon.slice(0, 10), amount_cents: 1 }] }), ['expense_claims expense_date: must not be later than today']],
    ['a payment received tomorrow', ({ S }) => ({ payments: [payment({ student_id: S, received_on: soon.slice(0, 10) })] }), ['payments received_on: must not be later than today']],
    ['a payment of an invoice of somebody else', ({ S, school }) => { const bob = school.userRow('bob'); const bobs = invoice(String(bob.id)); return { users: [bob], members: [school.memberRow(bob, 'student')], invoices: [bobs], payments: [payment({ student_id: S, invoice_id: bobs.id })] }; }, ['payments invoice_id: is not the payer’s']],
    ['a payment for a lesson of somebody else', ({ T, S, school }) => { const bob = school.userRow('bob'); const session = { id: id(), tutor_id: T, student_id: bob.id, ...HOUR }; return { users: [bob], members: [school.memberRow(bob, 'student')], sessions: [session], payments: [payment({ student_id: S, session_id: session.id })] }; }, ['payments session_id: is a session in which the payer has no place']],
    ['a draft that does not add up', ({ S }) => { const draft = invoice(S, { status: 'draft', invoice_number: null, amount_due_cents: 12345 }); return { invoices: [draft], invoice_lines: [line(draft.id, 100)] }; }, ['invoices amount_due_cents: must be the sum of its lines while status is draft']],
    ['a draft that is paid', ({ S }) => ({ invoices: [invoice(S, { status: 'draft', invoice_number: null, amount_paid_cents: 100 })] }), ['invoices amount_paid_cents: must be 0 while status is draft']],
    ['a payout to a student', ({ S }) => ({ payouts: [{ id: id(), tutor_id: S, amount_cents: 1, currency: 'AUD', paid_at: '2026-05-01' }] }), ['payouts tutor_id: is not staff of this organization']],
    ['a student who teaches a tutor', ({ T, S }) => ({ sessions: [{ id: id(), tutor_id: S, student_id: T, ...HOUR }] }), ['sessions student_id: is not a student of this organization', 'sessions tutor_id: is not staff of this organization']],
    ['an invoice of a tutor', ({ T }) => ({ invoices: [invoice(T)] }), ['invoices student_id: is not a student of this organization']],
    ['a parent of a tutor', ({ T, P }) => ({ parent_students: [{ parent_id: P, student_id: T }] }), ['parent_students student_id: is not a student of this organization']],
    ['homework by a parent', ({ P }) => ({ homework: [{ id: id(), assigned_by: P, title: 'x', homework_type: 'text', scope: 'student' }] }), ['homework assigned_by: is not staff of this organization']],
    ['a profile of a student', ({ S }) => ({ tutor_profiles: [{ user_id: S }] }), ['tutor_profiles user_id: is not staff of this organization']],
    ['roles in a class', ({ T, S }) => { const room = { id: id(), name: 'x' }; return { classrooms: [room], classroom_members: [{ id: id(), classroom_id: room.id, user_id: S, role: 'teacher' }, { id: id(), classroom_id: room.id, user_id: T, role: 'student' }] }; }, ['classroom_members user_id: is not staff of this organization', 'classroom_members user_id: is not a student of this organization']],
    ['roles in a group', ({ T, S }) => { const group = { id: id(), name: 'x' }; return { student_groups: [group], student_group_members: [{ id: id(), group_id: group.id, user_id: S, role: 'tutor' }, { id: id(), group_id: group.id, user_id: T, role: 'student' }] }; }, ['student_group_members user_id: is not staff of this organization', 'student_group_members user_id: is not a student of this organization']],
    ['a student and parent in one', ({ S, P, school }) => ({ parents: [{ user_id: S }], members: [school.memberRow({ id: P }, 'student')] }), ['members user_id: is a parent here, who cannot be a student too', 'members user_id: is a parent here, who cannot be a student too', 'parents user_id: is a student here, who cannot be a parent too', 'parents user_id: is a student here, who cannot be a parent too']],
    ['a band of a tutor', ({ school }) => { const band = { id: id(), name: 'x' }; const bob = school.userRow('bob'); return { users: [bob], rate_bands: [band], members: [{ ...school.memberRow(bob, 'tutor'), rate_band_id: band.id }] }; }, ['members rate_band_id: must be null unless role is student']],
    ['an adjustment of nothing', ({ T }) => ({ adjustments: [{ id: id(), tutor_id: T, period_start: '2026-05-02', period_end: '2026-05-01', amount_cents: 0 }] }), ['adjustments period_end: must not be before period_start', 'adjustments amount_cents: must not be 0']],
    ['a lesson completed before it begins', ({ T }) => ({ sessions: [{ id: id(), tutor_id: T, starts_at: soon, ends_at: later, duration_minutes: 60, status: 'completed' }, { id: id(), tutor_id: T, ...HOUR, status: 'completed', completed_at: later }] }), ['sessions completed_at: must not be in the future', 'sessions status: must not be completed before starts_at']],
    ['lessons that nobody teaches', ({ S }) => ({ sessions: [{}, { status: 'completed' }, { status: 'pending' }, { status: 'cancelled' }].map((state) => ({ id: id(), student_id: S, ...HOUR, ...state })) }), ['sessions status: must be pending or cancelled without tutor_id', 'sessions status: must be pending or cancelled without tutor_id']],
    ['a post of no configured brand', () => ({ blog_posts: [{ id: id(), title: 'x', slug: 'x', brand: 'other' }] }), ['blog_posts brand: must be one of: primary, secondary']],
    ['states that a lesson is not in', ({ T }) => ({ sessions: [{ id: id(), tutor_id: T, ...HOUR, completed_at: '2026-05-02', cancelled_at: '2026-05-02', cancellation_reason: 'x' }] }), ['sessions completed_at: must be null unless status is completed', 'sessions cancelled_at: must be null unless status is cancelled', 'sessions cancellation_reason: must be null unless status is cancelled']],
    ['a payout of a lesson that is not theirs, nor completed', ({ T, school }) => { const bob = school.userRow('bob'); const session = { id: id(), tutor_id: bob.id, ...HOUR }; return { users: [bob], members: [school.memberRow(bob, 'tutor')], sessions: [session], payouts: [{ id: id(), tutor_id: T, session_id: session.id, amount_cents: 1, currency: 'AUD', paid_at: '2026-05-02' }] }; }, ['payouts session_id: must be a session of this tutor', 'payouts session_id: must be a completed session']],
    ['hours that overlap', ({ T }) => { const hours = { tutor_id: T, day_of_week: 1, timezone: 'Australia/Melbourne' }; return { availabilities: [{ id: id(), ...hours, start_time: '09:00', end_time: '12:00' }, { id: id(), ...hours, start_time: '11:00', end_time: '13:00' }] }; }, ['availabilities start_time: must not overlap other hours of the same day']],
    ['time off twice', ({ T }) => { const off = { tutor_id: T, starts_on: '2026-05-01', ends_on: '2026-05-02' }; return { time_off: [{ id: id(), ...off }, { id: id(), ...off }] }; }, ['time_off starts_on: must not repeat earlier time off']],
    ['a lead that cannot be reached', () => ({ leads: [{ id: id(), name: 'x' }] }), ['leads email: send one of: email, phone']],
    ['a request of nobody', () => ({ booking_requests: [{ id: id() }] }), ['booking_requests student_id: send one of: student_id, student_display_name']],
    ['a sender from outside, and a reply to another conversation', ({ P, school }) => { const [one, two] = [school.conversation(), school.conversation()]; const [message] = two.messages!; return { conversations: [...one.conversations!, ...two.conversations!], conversation_participants: [...one.conversation_participants!, ...two.conversation_participants!], messages: [...one.messages!, { ...message, sender_id: P, reply_to_id: one.messages![0]!.id }] }; }, ['messages sender_id: does not take part in this conversation', 'messages reply_to_id: is in another conversation']],
    ['roles in a conversation', ({ school }) => { const { conversations, conversation_participants: seats } = school.conversation(); return { conversations: conversations!, conversation_participants: [{ ...seats![0]!, role: 'student' }, { ...seats![1]!, role: 'teacher' }] }; }, ['conversation_participants user_id: is not staff of this organization', 'conversation_participants user_id: is not a student of this organization']],
  ])('%s', async (_, more, expected) => {
    expect((await faultsWith(more)).sort()).toEqual([...expected].sort());
  }); // prettier-ignore

  it('lines that come after their invoice', async () => {
    await imports.renew();
    const { school } = imports;
    const issued = invoice(String(school.student.id));
    const lines = [line(issued.id, 500)];
    await imports.load(school.with({ invoices: [issued], invoice_lines: lines }));
    expect(await imports.load({ invoices: [issued], invoice_lines: lines })).toMatchObject({ invoice_lines: { unchanged: 1 } });
    const more = await imports.faultsOf({ invoice_lines: [{ ...line(issued.id, 500), position: 1 }] });
    expect(more).toEqual(['invoice_lines.ndjson:1: invoice_id: is there already: lines come with their invoice']);
    broken.add('invoice_lines invoice_id: is there already: lines come with their invoice');
  });

  it('each is broken here', () => {
    const rules = ROW_RULES.filter(({ words }) => words !== 'must not be in the future');
    const never = rules.map(({ table, at, words }) => `${table} ${at}: ${words}`).filter((rule) => !broken.has(rule));
    expect(never).toEqual([]);
  });
});

it('leaves out files whose names begin with a dot', async () => {
  await imports.renew();
  expect(await imports.load({ subjects: [{ id: id(), name: 'Physics' }], '._subjects': 'x', '.users': 'x' })).toEqual({
    subjects: { read: 1, inserted: 1, unchanged: 0 },
  });
});

it('never tells the database’s own words', async () => {
  await imports.renew();
  const checks: Row[] = await imports.database.all(`SELECT c.relname AS table, k.conname AS name, obj_description(k.oid) AS words
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.contype = 'c' AND cardinality(k.conkey) > 1 AND c.relname = ANY ('{${TABLES.join()}}')`);
  const silent = checks.filter(({ words }) => words === null).map(({ name }) => String(name));
  expect(silent.sort()).toEqual(['homework_check', 'invoices_check', 'invoices_check1', 'payments_check', 'payments_check1', 'questions_check', 'session_feedback_check']);
}); // prettier-ignore
