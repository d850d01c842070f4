import sql from 'sql-template-tag';
import { SCOPES, type Scope } from '@app/access';
import { Database } from '@app/database';
import { disableRowSecurity } from '../../support/database/row-security.js';
import { createFixtures, type Fixtures } from '../../support/data/fixtures.js';
import { call, keyedReads, nameOf, queryOf, documentOf, type ApiDocument, type Route, send } from '../../support/http/routes.js';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { Visitor } from '../../support/portal/visitor.js';
import { fixture } from '../../support/process/fixture.js';

/** Ids for the portal's pages: each record of the organization $1. */
const IDS: Record<string, string> = {
  user_id: 'SELECT user_id AS id FROM members WHERE organization_id = $1 UNION SELECT user_id FROM parents WHERE organization_id = $1',
  invoice_id: 'SELECT id FROM invoices WHERE organization_id = $1',
  line_id: `SELECT l.id FROM invoice_lines l JOIN invoices i ON i.id = l.invoice_id WHERE l.organization_id = $1 AND i.status = 'draft'`,
  payment_id: 'SELECT id FROM payments WHERE organization_id = $1',
  lesson_id: 'SELECT id FROM sessions WHERE organization_id = $1',
  lead_id: 'SELECT id FROM leads WHERE organization_id = $1',
  request_id: 'SELECT id FROM booking_requests WHERE organization_id = $1',
  subject_id: 'SELECT id FROM subjects WHERE organization_id = $1',
  rate_band_id: 'SELECT id FROM rate_bands WHERE organization_id = $1',
  tutor_tier_id: 'SELECT id FROM tutor_tiers WHERE organization_id = $1',
  export_id: 'SELECT id FROM exports WHERE organization_id = $1',
  endpoint_id: 'SELECT id FROM webhook_endpoints WHERE organization_id = $1',
  delivery_id: `SELECT id FROM outbox WHERE organization_id = $1 AND topic = 'webhook'`,
  claim_id: 'SELECT id FROM expense_claims WHERE organization_id = $1',
  // An upload is answered by a link of its own each time.
  file_id: 'SELECT id FROM files WHERE organization_id = $1 AND upload_id IS NULL',
};

/** Routes whose answers tell of requests: they change whoever asks. */
const OF_REQUESTS = /^\/v1\/(request-log|api-keys|me)|\/(keys|outbox|activity)\b|:(key|invite)_id/;

const joining = await fixture(JoinFixture.open());
const { api, portal } = joining;
const { make } = portal;
let fixtures: Fixtures;
let document: ApiDocument;
let owner: Visitor;
let slug: string;
/** Who leaves A, and belongs to B as well. */
let gone: { student: string; tutor: string; parent: string };
/** A tutor of both, who stays. */
let colleague: string;
let key: string;
let finished: string;
let open: string;
let shared: string;

const write = (path: string, method = 'POST') => send(api, method, path, { Authorization: `Token token=${key}` });

beforeAll(async () => {
  fixtures = await createFixtures(api);
  document = await documentOf(api);
  const { a, b } = fixtures;
  gone = { student: a.path.student_id!, tutor: a.path.tutor_id!, parent: a.path.parent_id! };
  for (const [role, id] of Object.entries({ student: gone.student, tutor: gone.tutor }))
    await make.member(b.id, { user: { id }, role: role as 'student' | 'tutor' });
  await make.parent(b.id, { user: { id: gone.parent }, children: [gone.student] });
  colleague = (await make.tutor(a.id)).id;
  await make.tutor(b.id, { user: { id: colleague } });
  shared = (await make.conversation({ participants: [colleague, gone.student] })).id;
  await make.message(shared, { organizationId: a.id, senderId: colleague });
  finished = (await make.result(gone.student, { status: 'completed', mode: 'sac', grade: 50, completedAt: new Date('2026-01-01T00:00:00Z') })).id;
  open = (await make.result(gone.student, { status: 'in_progress', mode: 'sac' })).id;
  const { id } = await make.member(a.id, { role: 'owner' });
  owner = new Visitor(portal, await portal.session(id));
  slug = a.organization.slug;
  key = await api.key(a.id, { scopes: Object.keys(SCOPES) as Scope[] });
  await make.query('UPDATE users SET email_verified_at = now() WHERE id = ANY ($1)', [Object.values(gone)]);
  for (const [kind, person] of [
    ['students', gone.student],
    ['tutors', gone.tutor],
  ] as const)
    expect((await write(`/v1/${kind}/${person}/offboard`)).status).toBe(200);
  const links = await make.query<{ student_id: string }>('SELECT student_id FROM parent_students WHERE organization_id = $1 AND parent_id = $2', [
    a.id,
    gone.parent,
  ]);
  for (const { student_id } of links) expect((await write(`/v1/parents/${gone.parent}/students/${student_id}`, 'DELETE')).status).toBe(204);
});

/** Everything that the organization is answered, by what was asked. */
async function answers(): Promise<Map<string, string>> {
  const { a } = fixtures;
  const told = new Map<string, string>();
  for (const route of keyedReads(api).filter(({ path }) => !OF_REQUESTS.test(`/${path}`.replace('//', '/')))) {
    const filters = [...queryOf(document, route).keys()].filter((name) => ['student_id', 'tutor_id', 'parent_id'].includes(name));
    const queries = ['', ...filters.map((name) => `?${name}=${gone[name.replace('_id', '') as keyof typeof gone]}`)];
    for (const query of [...queries, ...(queryOf(document, route).has('anonymize') ? ['?anonymize=true'] : [])])
      told.set(`${nameOf(route)} ${query}`, plain(await call(api, route, a, { query })));
  }
  for (const query of ['email=old.student%40example.org', 'email=new.student%40example.org', 'phone=0400000001', 'phone=0499999999'])
    told.set(`GET /v1/users ${query}`, plain(await send(api, 'GET', `/v1/users?${query}`, { Authorization: `Token token=${key}` })));
  for (const path of await pages()) told.set(path, plain(await owner.get(path)));
  return told;
}

const plain = ({ status, text }: { status: number; text: string }) =>
  `${status} ${text
    .replaceAll(/name="form_token" value="[^"]+"/g, '')
    .replaceAll(/nonce[-=]"?[\w+/=-]+/g, '')
    .replaceAll(/[^>]*<\/time>|just now|\d+ minutes? ago| data-reload/g, '')}`;

/** Every page of the organization's managers, with each id that it may have. */
async function pages(): Promise<string[]> {
  const found: string[] = [];
  const routes = portal.routes().filter(({ method, path }) => method === 'GET' && path.includes(':slug') && !OF_REQUESTS.test(path));
  for (const { path } of routes as Route[]) {
    const here = path.replace(':slug', slug);
    const name = /:(\w+)/.exec(here)?.[1];
    if (!name) found.push(here, `${here}?q=Old`, `${here}?q=Newname`);
    else if (!IDS[name]) throw new Error(`${path}: give "${name}" a query in IDS`);
    else for (const { id } of await make.query<{ id: string }>(IDS[name], [fixtures.a.id])) found.push(here.replace(`:${name}`, id));
  }
  return found;
}

/** Changes all that can be known of those who left, as other organizations and they themselves do. */
async function changeElsewhere(): Promise<void> {
  const { b } = fixtures;
  const people = Object.values(gone);
  for (const [role, id] of Object.entries(gone))
    await make.query(
      `UPDATE users SET first_name = 'Newname', last_name = 'Elsewhere', phone = '0499999999', email = $2, email_normalized = $2, email_verified_at = now() WHERE id = $1`,
      [id, `new.${role}@example.org`],
    );
  await make.query(`UPDATE tutor_profiles SET avatar_url = 'https://example.org/new.png', bio = 'New' WHERE organization_id = $1`, [b.id]);
  // Results, of homework of B too: new ones, even with a time in the past, and the grades of old ones.
  await make.query(`UPDATE results SET grade = 99, status = 'completed', completed_at = coalesce(completed_at, now()) WHERE id = ANY ($1)`, [
    [finished, open],
  ]);
  const homework = await make.homework(colleague, { studentId: gone.student }, b.id);
  for (const completedAt of [new Date(), new Date('2026-01-02T00:00:00Z')]) {
    await make.result(gone.student, { status: 'completed', mode: 'sac', grade: 11, completedAt });
    await make.result(gone.student, { status: 'completed', mode: 'homework', homeworkAssignmentId: homework.id, completedAt });
  }
  await make.message(shared, { organizationId: b.id, senderId: colleague, content: 'From B' });
  await make.query(`UPDATE conversation_participants SET left_at = now() WHERE user_id = $1 AND conversation_id <> $2`, [gone.tutor, shared]);
  const fresh = await make.conversation({ participants: [colleague, ...people.slice(0, 1)] });
  await make.message(fresh.id, { organizationId: b.id, senderId: colleague });
  const session = await make.session(b.id, { tutorId: gone.tutor, studentId: gone.student, status: 'completed' });
  await make.feedback(b.id, gone.tutor, { sessionId: session.id, reviewerId: gone.student, isPublic: true, comment: 'Elsewhere' });
  await make.group(null, { tutorId: gone.tutor });
  await make.homework(gone.tutor, { studentId: gone.student });
  await make.query('UPDATE members SET rate_band_id = NULL WHERE organization_id = $1 AND user_id = ANY ($2)', [b.id, people]);
}

it('nothing that happens elsewhere to those who left changes any answer of the organization', async () => {
  await make.query(`UPDATE members SET supplied_email = 'old.student@example.org' WHERE organization_id = $1 AND user_id = $2`, [
    fixtures.a.id,
    gone.student,
  ]);
  const before = await answers();
  expect(before.size).toBeGreaterThan(100);
  expect(before.get('GET /v1/users email=old.student%40example.org')).toContain(gone.student);
  expect([...before.values()].filter((text) => text.startsWith('5'))).toEqual([]);
  const again = await answers();
  const restless = [...before].filter(([what, text]) => again.get(what) !== text).map(([what]) => what);
  expect(restless).toEqual([]);
  await changeElsewhere();
  const after = await answers();
  expect(
    [...before].filter(([what, text]) => after.get(what) !== text).map(([what]) => [what, firstDifference(before.get(what)!, after.get(what)!)]),
  ).toEqual([]);
  const [copies] = await make.query('SELECT count(*)::integer AS wrong FROM wrong_copies(NULL)');
  expect(copies).toEqual({ wrong: 0 });
});

function firstDifference(one: string, other: string): string[] {
  const at = Array.from(one).findIndex((character, place) => other[place] !== character);
  return [one, other].map((text) => text.slice(Math.max(0, at - 60), at + 100));
}

it('either lock alone holds: no login and no result can be read, and no query needs row-level security for it', async () => {
  const before = await answers();
  const tenant = { organizationId: fixtures.a.id };
  const [logins, results] = await api.app
    .get(Database)
    .read<[object, object]>(
      tenant,
      sql`SELECT id FROM users WHERE id = ANY (${Object.values(gone)})`,
      sql`SELECT FROM organization_results WHERE student_id = ${gone.student} AND result_id = ${open}`,
    );
  expect([logins, results]).toEqual([[], []]);
  await disableRowSecurity(make);
  const after = await answers();
  expect(
    [...before].filter(([what, text]) => after.get(what) !== text).map(([what]) => [what, firstDifference(before.get(what)!, after.get(what)!)]),
  ).toEqual([]);
});
