import { randomUUID } from 'node:crypto';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { busyOffice } from '../../support/portal/join-states.js';
import type { PeoplePages } from '../../support/portal/people-pages.js';

/** Queries for ids of another organization's records, or of its owner's ($2), by path parameter. */
const IDS: Record<string, string> = {
  trip_id: 'SELECT id FROM mileage_trips WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  claim_id: 'SELECT id FROM expense_claims WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  invoice_id: 'SELECT id FROM invoices WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  line_id: 'SELECT id FROM invoice_lines WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  payment_id: 'SELECT id FROM payments WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  lesson_id: 'SELECT id FROM sessions WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  key_id: 'SELECT id FROM api_keys WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  user_id: `SELECT user_id AS id FROM members WHERE organization_id = $1 AND $2::uuid IS NOT NULL
    UNION SELECT user_id FROM parents WHERE organization_id = $1`,
  invite_id: 'SELECT id FROM invites WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  export_id: 'SELECT id FROM exports WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  lead_id: 'SELECT id FROM leads WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  request_id: 'SELECT id FROM booking_requests WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  subject_id: 'SELECT id FROM subjects WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  rate_band_id: 'SELECT id FROM rate_bands WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  tutor_tier_id: 'SELECT id FROM tutor_tiers WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  file_id: 'SELECT id FROM files WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  inbox_message_id: 'SELECT id FROM inbox_messages WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  endpoint_id: 'SELECT id FROM webhook_endpoints WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  delivery_id: `SELECT id FROM outbox WHERE organization_id = $1 AND $2::uuid IS NOT NULL AND topic = 'webhook'`,
  message_id: 'SELECT id FROM outbox WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  organization_id: 'SELECT id FROM organizations WHERE id = $1 AND $2::uuid IS NOT NULL',
  session_id: 'SELECT id FROM portal_sessions WHERE user_id = $2 AND $1::uuid IS NOT NULL',
  passkey_id: 'SELECT id FROM passkeys WHERE user_id = $2 AND $1::uuid IS NOT NULL',
};

/** What stands for the other parameters. */
const OTHERS: Record<string, string[]> = { kind: ['members', 'parents'], action: ['approve', 'reject', 'reimburse'] };

/** Enough for every form to get as far as the record. */
const FIELDS = {
  form_token: randomUUID(),
  role: 'tutor',
  student_id: randomUUID(),
  name: 'x',
  access: 'read',
  expires: 'never',
  overlap: 'now',
  status: 'lost',
  action: 'decline',
  ...{ url: 'https://hooks.example.org/', events: 'all' },
  ...{ line_id: randomUUID(), amount: '1.00', payment_type: 'cash', description: 'x', unit: '1.00' },
};

/** Each row that belongs to the other organization or its owner. The API notes a key's last use a moment after it. */
const STATE = `
  SELECT 'key' AS what, to_jsonb(k) - 'last_used_at' AS row FROM api_keys k WHERE organization_id = $1
  UNION ALL SELECT 'member', to_jsonb(m) FROM members m WHERE organization_id = $1
  UNION ALL SELECT 'parent', to_jsonb(p) FROM parents p WHERE organization_id = $1
  UNION ALL SELECT 'hours', to_jsonb(a) FROM availabilities a WHERE organization_id = $1
  UNION ALL SELECT 'time off', to_jsonb(f) FROM time_off f WHERE organization_id = $1
  UNION ALL SELECT 'trip', to_jsonb(t) FROM mileage_trips t WHERE organization_id = $1
  UNION ALL SELECT 'subject', to_jsonb(t) FROM subjects t WHERE organization_id = $1
  UNION ALL SELECT 'level', to_jsonb(t) FROM rate_bands t WHERE organization_id = $1
  UNION ALL SELECT 'tier', to_jsonb(t) FROM tutor_tiers t WHERE organization_id = $1
  UNION ALL SELECT 'invoice', to_jsonb(v) FROM invoices v WHERE organization_id = $1
  UNION ALL SELECT 'line', to_jsonb(v) FROM invoice_lines v WHERE organization_id = $1
  UNION ALL SELECT 'payment', to_jsonb(v) FROM payments v WHERE organization_id = $1
  UNION ALL SELECT 'allocation', to_jsonb(v) FROM payment_allocations v WHERE organization_id = $1
  UNION ALL SELECT 'lesson', to_jsonb(s) FROM sessions s WHERE organization_id = $1
  UNION ALL SELECT 'claim', to_jsonb(c) FROM expense_claims c WHERE organization_id = $1
  UNION ALL SELECT 'invite', to_jsonb(i) FROM invites i WHERE organization_id = $1
  UNION ALL SELECT 'lead', to_jsonb(l) FROM leads l WHERE organization_id = $1
  UNION ALL SELECT 'booking request', to_jsonb(b) FROM booking_requests b WHERE organization_id = $1
  UNION ALL SELECT 'export', to_jsonb(e) FROM exports e WHERE organization_id = $1
  UNION ALL SELECT 'inbox', to_jsonb(i) FROM inbox_messages i WHERE organization_id = $1
  UNION ALL SELECT 'endpoint', to_jsonb(w) FROM webhook_endpoints w WHERE organization_id = $1
  UNION ALL SELECT 'outbox', to_jsonb(o) FROM outbox o WHERE organization_id = $1
  UNION ALL SELECT 'session', to_jsonb(s) FROM portal_sessions s WHERE user_id = $2
  UNION ALL SELECT 'passkey', to_jsonb(c) FROM passkeys c WHERE user_id = $2
  ORDER BY 1, 2`;

let own: PeoplePages;
let foreign: PeoplePages;

const joining = await JoinFixture.shared();

beforeAll(async () => {
  own = await busyOffice(joining);
  // Whoever asks is a parent as well: nobody else has pages of families.
  const family = own.provisioning.id;
  await joining.portal.make.row('parents', { organizationId: family, userId: own.ownerId, status: 'accepted' });
  await joining.portal.make.link(family, own.ownerId, (await joining.portal.make.student(family)).id);
  foreign = await busyOffice(joining);
  await joining.api.keys.create(foreign.provisioning.id, { name: 'Foreign key' });
  const child = await joining.portal.make.student(foreign.provisioning.id);
  await joining.portal.make.row('leads', { organizationId: foreign.provisioning.id, name: 'Priya' });
  await joining.portal.make.row('booking_requests', { organizationId: foreign.provisioning.id });
  await joining.portal.make.parent(foreign.provisioning.id, { children: [child.id] });
  for (const status of ['draft', 'open'] as const) {
    const { id } = await joining.portal.make.invoice(foreign.provisioning.id, child.id, { status });
    await joining.portal.make.invoiceLine(foreign.provisioning.id, id);
  }
  await joining.portal.make.payment(foreign.provisioning.id, { studentId: child.id });
  const tutor = await joining.portal.make.tutor(foreign.provisioning.id);
  await joining.portal.make.session(foreign.provisioning.id, { tutorId: tutor.id, status: 'completed' });
  await joining.portal.make.mileage(foreign.provisioning.id, tutor.id);
  await joining.portal.make.expense(foreign.provisioning.id, tutor.id);
  const { id: uploadId } = (await joining.portal.make.row('uploads', { organizationId: foreign.provisioning.id })) as { id: string };
  const file = { organizationId: foreign.provisioning.id, scope: 'org', title: 'Surds', resourceType: 'file', uploadId } as const;
  await joining.portal.make.row('files', file);
  await joining.portal.make.row('inbox_messages', { organizationId: foreign.provisioning.id, message: 'Hello' });
  await joining.portal.make.row('exports', { organizationId: foreign.provisioning.id, status: 'asked' });
  await ask(
    `INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name)
     SELECT gen_random_uuid(), $2, '\\x01', '\\x01', 0, 'x' WHERE $1::uuid IS NOT NULL RETURNING id`,
  );
  const { make } = joining.portal;
  await make.subject(foreign.provisioning.id);
  for (const table of ['rate_bands', 'tutor_tiers'] as const) await make.row(table, { organizationId: foreign.provisioning.id, name: 'x' });
  await ask(`UPDATE outbox SET status = 'dead' WHERE organization_id = $1 AND $2::uuid IS NOT NULL`);
});

/** A statement about the other organization ($1) and its owner ($2). */
const ask = (statement: string) => joining.portal.make.query(statement, [foreign.provisioning.id, foreign.ownerId]);

const parametersOf = (path: string) => [...path.matchAll(/:([^/]+)/g)].map(([, name]) => name!);

/** Every path of a route for an id. */
function pathsOf(path: string, id: string): string[] {
  let paths = [path.replace(':slug', own.base.split('/')[2]!)];
  for (const [name, values] of Object.entries(OTHERS))
    paths = paths.flatMap((each) => (each.includes(`:${name}`) ? values.map((value) => each.replace(`:${name}`, value)) : each)); // prettier-ignore
  return paths.map((each) => each.replace(/:[^/]+/, id));
}

it('every id in a path is refused as if it did not exist, if it is another organization’s or person’s', async () => {
  const routes = joining.portal.routes().filter(({ path }) => parametersOf(path).some((name) => name.endsWith('_id')));
  const names = new Set(routes.flatMap(({ path }) => parametersOf(path)));
  // Whoever adds a parameter says which ids of others it could be given.
  expect([...names].sort()).toEqual([...Object.keys(IDS), ...Object.keys(OTHERS), 'slug'].sort());
  const before = await ask(STATE);
  for (const { method, path } of routes) {
    const [name, ...more] = parametersOf(path).filter((each) => each.endsWith('_id'));
    expect([path, more]).toEqual([path, []]);
    const ids = (await ask(IDS[name!]!)).map(({ id }) => id as string);
    expect([name, ids.length > 0]).toEqual([name, true]);
    const answer = async (at: string, id: string) => {
      const cookie = own.owner.header;
      const { status, text, headers } = await (method === 'GET' ? joining.portal.get(at, cookie) : joining.portal.post(at, FIELDS, cookie));
      return { status, to: headers.location, text: text.replace(/<code>[^<]*<\/code>/g, '').replaceAll(id, '') };
    }; // prettier-ignore
    for (const at of pathsOf(path, 'nonsense')) expect([at, (await answer(at, 'nonsense')).status]).toEqual([at, 404]);
    const absent = randomUUID();
    for (const id of ids) {
      for (const [index, at] of pathsOf(path, id).entries()) {
        const missing = await answer(pathsOf(path, absent)[index]!, absent);
        // An offer that is gone leads back to those that remain.
        expect([at, missing.status]).toEqual([at, /^\/organizations\/.*\/(accept|decline|withdraw)$/.test(path) ? 303 : 404]);
        expect([at, await answer(at, id)]).toEqual([at, missing]);
      }
    }
  }
  expect(await ask(STATE)).toEqual(before);
});

it('no page of an organization shows anything of another one', async () => {
  const addresses = await ask(
    `SELECT email AS text FROM users WHERE $2::uuid IS NOT NULL
       AND id IN (SELECT user_id FROM members WHERE organization_id = $1 UNION SELECT user_id FROM parents WHERE organization_id = $1)
     UNION SELECT email FROM invites WHERE organization_id = $1 AND email IS NOT NULL
     UNION SELECT recipient FROM outbox WHERE organization_id = $1`,
  );
  const foreignTexts = ['Foreign key', ...addresses.map(({ text }) => text as string)];
  expect(foreignTexts.length).toBeGreaterThan(5);
  const shownBy = async (office: PeoplePages) => {
    const slug = office.base.split('/')[2]!;
    const routes = joining.portal.routes().filter(({ method, access }) => method === 'GET' && access === 'managers');
    const paths = routes.map(({ path }) => path.replace(':slug', slug)).filter((path) => !path.includes(':'));
    const pages = await Promise.all(paths.map((path) => office.owner.get(path)));
    return foreignTexts.filter((text) => pages.some((page) => page.text.includes(text)));
  };
  expect(await shownBy(own)).toEqual([]);
  expect((await shownBy(foreign)).length).toBeGreaterThan(5);
});
