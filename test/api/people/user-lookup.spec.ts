import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { digitsOf } from '../../../libs/database/src/folding.js';
import type { OrganizationFixture } from '../../support/data/fixtures.js';
import { statementsFor } from '../../support/database/read-statements.js';
import { PeopleFixture, person } from '../../support/data/provisioning.js';
import { TestApi } from '../../support/http/api.js';
import { keyedReads } from '../../support/http/routes.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const { make } = api;
const [school, other] = [(await make.organization()).id, (await make.organization()).id];
const [key, otherKey] = [await api.key(school), await api.key(other)];

async function ask(query: string, as = key): Promise<{ status: number; body: unknown }> {
  const answer = await api.get(`/v1/users?${query}`, as);
  return { status: answer.status, body: answer.body as unknown };
}

const find = (query: Record<string, string>, as = key) => ask(new URLSearchParams(query).toString(), as);
const idFor = async (query: Record<string, string>, as = key) => {
  const { status, body } = await find(query, as);
  return status === 200 ? (body as { id: string }).id : status;
};
let numbers = 0;
const newPhone = () => `+61 (4) ${String(++numbers).padStart(8, '0')}`;
const digits = (phone: string) => phone.replaceAll(/[^0-9]/g, '');

it('finds members of each role and linked parents by their address, whatever its case', async () => {
  const student = await make.student(school);
  const people = [
    { who: student, type: 'student' },
    { who: await make.parent(school, { children: [student.id] }), type: 'parent' },
    { who: await make.member(school, { role: 'owner' }), type: 'owner' },
    { who: await make.member(school, { role: 'admin' }), type: 'admin' },
    { who: await make.tutor(school), type: 'tutor' },
  ];
  for (const { who, type } of people) {
    const { status, body } = await find({ email: ` ${who.email.toUpperCase()} ` });
    expect([status, body]).toEqual([
      200,
      {
        id: who.id,
        first_name: who.firstName,
        last_name: who.lastName,
        email: who.email,
        account_type: type,
        created_at: expect.any(String) as string,
      },
    ]);
    expect(await idFor({ email: who.email }, otherKey)).toBe(404);
  }
});

it('compares phone numbers by their digits, of which there must be one', async () => {
  const phone = newPhone();
  const { id } = await make.student(school, { user: { phone } });
  await make.student(school, { user: { phone: 'ask' } });
  await make.student(school, { user: { phone: '' } });
  for (const spelled of [phone, digits(phone), digits(phone).split('').join('-'), ` ${phone} `])
    expect([spelled, await idFor({ phone: spelled })]).toEqual([spelled, id]);
  for (const phone of [digits(newPhone()), 'ask', '+', digits(newPhone()).slice(1)]) expect([phone, await idFor({ phone })]).toEqual([phone, 404]);
  expect(await idFor({ phone }, otherKey)).toBe(404);
});

it('takes digits of any script for digits', async () => {
  // Unicode has each script's in a row of ten.
  const all = Array.from({ length: 0x110000 }, (_, point) => point).filter((point) => point < 0xd800 || point > 0xdfff);
  const decimal = all.map((point) => String.fromCodePoint(point)).filter((one) => /\p{Nd}/u.test(one));
  const [row] = await make.query<{ digits: string }>(`SELECT ${digitsOf('$1::text')} AS digits`, [decimal.join('')]);
  expect(row!.digits).toBe('0123456789'.repeat(decimal.length / 10));
  const full = (ascii: string, zero: number) => ascii.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(zero + Number(digit)));
  const people = await PeopleFixture.open(api, make);
  const its = await api.key(people.id);
  for (const zero of [0xff10, 0x660, 0x6f0, 0x966, 0x1d7ce]) {
    const phone = digits(newPhone());
    const { id } = (await people.post('/v1/students', person({ phone: full(phone, zero) }))).body as { id: string };
    const given = digits(newPhone());
    const pending = await make.student(people.id, { status: 'pending', suppliedPhone: full(given, zero) });
    for (const write of [(text: string) => text, (text: string) => full(text, zero), (text: string) => `+${full(text, 0x660)}`]) {
      expect([zero, await idFor({ phone: write(phone) }, its)]).toEqual([zero, id]);
      expect([zero, await idFor({ phone: write(given) }, its)]).toEqual([zero, pending.id]);
    }
  }
});

it('finds of several the one who accepted first, and those who have not accepted last', async () => {
  const phone = newPhone();
  const at = (day: number) => new Date(Date.UTC(2026, 0, day));
  const pending = { status: 'pending' as const, suppliedPhone: phone, createdAt: at(1) };
  const waiting = await make.student(school, pending);
  expect(await idFor({ phone })).toBe(waiting.id);
  const later = await make.tutor(school, { user: { phone }, acceptedAt: at(4), createdAt: at(2) });
  expect(await idFor({ phone })).toBe(later.id);
  const child = await make.student(school);
  const first = await make.parent(school, { user: { phone }, acceptedAt: at(3), createdAt: at(3), children: [child.id] });
  expect(await idFor({ phone })).toBe(first.id);
});

it('knows of people who have not accepted what the organization supplied, and nothing of their login', async () => {
  const [phone, suppliedPhone, suppliedEmail] = [newPhone(), newPhone(), 'Given@Example.org'];
  const wish = { status: 'pending' as const, suppliedEmail, suppliedPhone, suppliedFirstName: 'Mia' };
  const { id, email } = await make.student(school, { user: { phone }, ...wish });
  const theirs: Record<string, string>[] = [{ email }, { phone }];
  const given: Record<string, string>[] = [{ email: 'given@example.ORG' }, { phone: suppliedPhone }];
  for (const query of theirs) expect([query, await idFor(query)]).toEqual([query, 404]);
  for (const query of given) {
    const { body } = await find(query);
    expect([query, body]).toMatchObject([query, { id, first_name: 'Mia', email: suppliedEmail }]);
  }
  const parent = await make.parent(school, { ...wish, suppliedEmail: 'p@example.org', suppliedPhone: newPhone() });
  expect(await idFor({ email: 'p@example.org' })).toBe(404);
  await make.link(school, parent.id, id);
  expect(await idFor({ email: 'p@example.org' })).toBe(parent.id);
});

it('does not find placeholder addresses', async () => {
  const { email } = await make.student(school, { user: { placeholderEmail: true } });
  expect(await idFor({ email })).toBe(404);
});

it('takes exactly one of the two, once', async () => {
  for (const [query, loc, type] of [
    ['', 'email', 'missing'],
    ['email=a%40b.org&phone=1', 'phone', 'value_error'],
    ['email=', 'email', 'string_too_short'],
    ['phone=%20', 'phone', 'string_too_short'],
    ['phone=1&phone=2', 'phone', 'value_error'],
    ['phone=1&name=Mia', 'name', 'extra_forbidden'],
  ] as const) {
    const { status, body } = await ask(query);
    expect([query, status, body]).toMatchObject([query, 422, { detail: [{ loc: ['query', loc], type }] }]);
  }
});

interface Plan {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Alias?: string;
  Plans?: Plan[];
}

/** The rows of tables that the plan's scans looked at. */
const looked = (plan: Plan): number =>
  (plan.Alias ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0) +
  (plan.Plans ?? []).map(looked).reduce((sum, rows) => sum + rows, 0);

it('looks at a few rows under row-level security, however many people have accepted', async () => {
  const people = Array.from({ length: 3_000 }, (_, n) => ({ id: uuidv7(), phone: `0500 ${n}` }));
  const name = { firstName: 'Ada', lastName: 'King' };
  const login = ({ id, phone }: (typeof people)[number]) => ({
    id,
    phone,
    email: `${id}@example.org`,
    emailNormalized: `${id}@example.org`,
    ...name,
  });
  await make.rows('users', people.map(login));
  await make.rows(
    'members',
    people.map(({ id }) => ({ id: uuidv7(), organizationId: school, userId: id, role: 'student' as const, status: 'accepted' as const })),
  );
  await make.query('VACUUM ANALYZE');
  const client = new pg.Client({ connectionString: api.database.applicationUrl });
  await client.connect();
  const [wanted] = people;
  const route = keyedReads(api).find(({ path }) => path === '/v1/users')!;
  for (const query of [`?email=${wanted!.id}@example.org`, '?phone=05000', '?phone=1', '?email=nobody@example.org']) {
    const [statement] = await statementsFor(api, route, { key, path: {}, query: {} } as unknown as OrganizationFixture, { query });
    await client.query('BEGIN READ ONLY');
    await client.query(`SELECT set_config('app.organization_id', $1, true)`, [school]);
    const { text, values } = statement!;
    const explained = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
      text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values,
    });
    await client.query('ROLLBACK');
    const rows = looked(explained.rows[0]!['QUERY PLAN'][0].Plan);
    expect([query, rows < 100, rows]).toEqual([query, true, rows]);
  }
  await client.end();
});
