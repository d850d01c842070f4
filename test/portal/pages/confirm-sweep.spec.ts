import { randomBytes, randomUUID } from 'node:crypto';
import { lockNumber } from '../../../libs/database/src/locks.js';
import { type Route, RouteTable } from '../../../apps/portal/src/web/route-table.js';
import { PASSWORD, type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

/** Every form that the cookie alone may send. Add new ones here, and say why. */
const COOKIE_ALONE = [
  // These ask for a password themselves.
  'POST /confirm', 'POST /account/password',
  // Whoever has lost a device signs it out at once.
  'POST /account/sessions/end-others', 'POST /account/sessions/:session_id/end',
  // Names, and a mail to the person's own address.
  'POST /account/name', 'POST /account/passkeys/:passkey_id/rename', 'POST /account/confirmation',
  // The person's own answers to what an organization offers.
  'POST /organizations/:organization_id/accept', 'POST /organizations/:organization_id/decline',
  // Mails to addresses that the organization has entered, calls to its hook, and the end of invites: nobody new comes in.
  'POST /o/:slug/people/:kind/:user_id/send-invite', 'POST /o/:slug/people/:kind/:user_id/revoke-invites',
  'POST /o/:slug/people/invites/:invite_id/revoke',
  // Where the organization can be reached; nothing is sent there.
  'POST /o/:slug/settings',
  // They write down what was billed and paid elsewhere, move no money and give nobody access; each has a way back and an audit row.
  'POST /o/:slug/money/invoices/:invoice_id/finalize', 'POST /o/:slug/money/invoices/:invoice_id/void',
  'POST /o/:slug/money/invoices/:invoice_id/add-line', 'POST /o/:slug/money/invoices/:invoice_id/remove-line',
  'POST /o/:slug/money/invoices/:invoice_id/pay', 'POST /o/:slug/money/families/:user_id/pay',
  'POST /o/:slug/money/payments/:payment_id/refund',
  'POST /o/:slug/money/approvals/mileage/:trip_id/:action', 'POST /o/:slug/money/approvals/expenses/:claim_id/:action',
  // The state of what somebody wrote or asked for; nobody comes in, and nobody is mailed.
  'POST /o/:slug/enquiries/leads/:lead_id', 'POST /o/:slug/enquiries/requests/:request_id',
  'POST /o/:slug/inbox/:inbox_message_id/read', 'POST /o/:slug/inbox/:inbox_message_id/archive',
  'POST /o/:slug/outbox/messages/:message_id/retry', 'POST /o/:slug/outbox/allow', 'POST /o/:slug/build-hook/test',
].sort(); // prettier-ignore

/** Pages that have such forms beside much to read: only their forms ask. */
const READ = ['/account', '/organizations', '/o/:slug/people', '/o/:slug/people/:user_id', '/o/:slug/people/invites', '/o/:slug/people/codes'];

/** Requests of the passkey script. */
const SCRIPTED = ['/account/passkeys', '/account/passkeys/options'];

/** Ids in a school ($1) and of its owner ($2), by path parameter. */
const IDS: Record<string, string> = {
  key_id: 'SELECT id FROM api_keys WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  user_id: `SELECT user_id AS id FROM members WHERE organization_id = $1 AND $2::uuid IS NOT NULL
    UNION SELECT user_id FROM parents WHERE organization_id = $1`,
  invite_id: `SELECT id FROM invites WHERE organization_id = $1 AND $2::uuid IS NOT NULL AND email IS NULL`,
  // Of the page after leaving.
  organization_id: 'SELECT organization_id AS id FROM members WHERE user_id = $2 AND organization_id <> $1',
};

/** What somebody types or chooses. What a form holds already, the page says. */
const TYPED = {
  ...{ name: 'Till', access: 'read', expires: 'never', overlap: 'now', sessions: 'unassign', role: 'tutor' },
  ...{ first_name: 'Ada', last_name: 'Byron', email: 'ada@example.org' },
  ...{ url: 'https://build.example.org/hook', password: PASSWORD },
};

const STATE = `
  SELECT 'key' AS what, to_jsonb(k) AS row FROM api_keys k WHERE organization_id = $1
  UNION ALL SELECT 'member', to_jsonb(m) FROM members m WHERE organization_id = $1 OR user_id = $2
  UNION ALL SELECT 'parent', to_jsonb(p) FROM parents p WHERE organization_id = $1
  UNION ALL SELECT 'child', to_jsonb(c) FROM parent_students c WHERE organization_id = $1
  UNION ALL SELECT 'invite', to_jsonb(i) FROM invites i WHERE organization_id = $1
  UNION ALL SELECT 'hook', to_jsonb(h) FROM rebuild_hooks h WHERE organization_id = $1
  UNION ALL SELECT 'passkey', to_jsonb(p) FROM passkeys p WHERE user_id = $2
  UNION ALL SELECT 'password', to_jsonb(c) FROM credentials c WHERE user_id = $2
  ORDER BY 1, 2`;

const portal = await fixture(TestPortal.start());
const { make } = portal;
const table = portal.app.get(RouteTable);
const routes = portal.routes();
const confirming = routes.filter(({ confirmation }) => confirmation);
const forms = confirming.filter(({ method, path }) => method !== 'GET' && !SCRIPTED.includes(path));
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

/** A school with something for every form to change. */
async function school({ hook }: { hook: boolean }): Promise<Someone> {
  const owner = await portal.someone('owner');
  const at = owner.organization.id;
  const elsewhere = await make.organization();
  await make.member(elsewhere.id, { userId: owner.user.id, role: 'tutor', status: 'accepted' });
  await make.member(at, { role: 'admin', status: 'accepted' });
  const waiting = await make.member(at, { role: 'tutor', status: 'pending' });
  await make.query('UPDATE members SET approval_requested_at = now() WHERE user_id = $1', [waiting.id]);
  const child = await make.student(at);
  await make.parent(at, { children: [child.id] });
  await make.query(
    `INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name)
     SELECT gen_random_uuid(), $1::uuid, sha256(convert_to($1::uuid::text || n, 'UTF8')), '\\x01', 0, 'x' FROM generate_series(1, 2) n`,
    [owner.user.id],
  );
  await make.query(
    `INSERT INTO invites (id, organization_id, scope, role, target_id, email, secret_hash, expires_at)
     VALUES (gen_random_uuid(), $1::uuid, 'organization', 'student', $1::uuid, 'somebody@example.org', $2, now() + interval '1 day')`,
    [at, randomBytes(32)],
  );
  const [code] = await make.query<{ id: string }>(
    `INSERT INTO invites (id, organization_id, scope, role, target_id, secret_hash, expires_at)
     VALUES (gen_random_uuid(), $1::uuid, 'organization', 'student', $1::uuid, $2, now() + interval '1 day') RETURNING id`,
    [at, randomBytes(32)],
  );
  await make.query(`INSERT INTO joins (organization_id, invite_id, user_id, joined_at) VALUES ($1, $2, $3, now() - interval '1 minute')`, [
    at,
    code!.id,
    child.id,
  ]);
  const base = `/o/${owner.organization.slug}`;
  await portal.post(`${base}/keys`, { ...TYPED, form_token: randomUUID() }, owner.cookie).expect(303);
  if (hook) await portal.post(`${base}/build-hook/add`, TYPED, owner.cookie).expect(200);
  return owner;
}

/** When the session of a cookie was confirmed last, as SQL. */
const confirm = (owner: Someone, at: string) => make.query(`UPDATE portal_sessions SET confirmed_at = ${at} WHERE user_id = $1`, [owner.user.id]);

/** The paths of a route in a school. */
async function pathsOf(path: string, { organization, user }: Someone): Promise<string[]> {
  const filled = path.replace(':slug', organization.slug);
  const [, name] = /:([^/]+)/.exec(filled) ?? [];
  if (name === undefined) return [filled];
  const rows = await make.query<{ id: string }>(IDS[name]!, [organization.id, user.id]);
  return rows.map(({ id }) => filled.replace(`:${name}`, id));
}

interface Sent {
  action: string;
  fields: Record<string, string>;
}

/** The forms of a route, as its page shows them to somebody who has just confirmed. */
async function formsOn(route: Route, owner: Someone): Promise<Sent[]> {
  const found: Sent[] = [];
  for (const page of await pathsOf(table.pageOf(route.handler)!, owner)) {
    const { text } = await portal.get(page, owner.cookie);
    for (const [, action, inside] of text.matchAll(/<form[^>]* action="([^"]+)"[^>]*>(.*?)<\/form>/gs)) {
      if (table.match('POST', action!)?.handler !== route.handler) continue;
      const hidden = [...inside!.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const kept = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!.replaceAll('&amp;', '&')]));
      found.push({ action: action!, fields: { ...TYPED, ...kept } });
    }
  }
  return found;
}

describe('every route', () => {
  it('asks people to confirm who they are before its form is sent, unless listed here', () => {
    const alone = routes.filter(({ method, access, confirmation }) => method !== 'GET' && access !== 'public' && !confirmation);
    expect(alone.map(nameOf).sort()).toEqual(COOKIE_ALONE);
    expect(confirming.filter(({ access }) => access === 'public' || access === 'probe').map(nameOf)).toEqual([]);
  });

  it('has a page, which asks too unless it is there to be read', () => {
    const pages = new Set([...forms].map(({ handler }) => table.pageOf(handler)));
    const asking = confirming.filter(({ method }) => method === 'GET').map(({ path }) => path);
    expect([...pages].sort()).toEqual([...asking, ...READ].sort());
  });
});

it.each([
  ['never', 'NULL'],
  ['15 minutes ago', `now() - interval '15 minutes'`],
])('somebody who confirmed %s sends no such form, and opens no such page', async (_when, at) => {
  const owners = [await school({ hook: true }), await school({ hook: false })];
  for (const owner of owners) {
    const before = await make.query(STATE, [owner.organization.id, owner.user.id]);
    const sent = new Map<Route, Sent[]>();
    for (const route of forms) sent.set(route, await formsOn(route, owner));
    await confirm(owner, at);
    for (const route of confirming.filter(({ method }) => method === 'GET')) {
      for (const path of await pathsOf(route.path, owner)) {
        const answer = await portal.get(path, owner.cookie);
        expect([path, answer.status, answer.headers.location]).toEqual([path, 303, `/confirm?${new URLSearchParams({ next: path }).toString()}`]);
      }
    }
    for (const [route, all] of sent) {
      const pages = await pathsOf(table.pageOf(route.handler)!, owner);
      for (const { action, fields } of all) {
        const answer = await portal.post(action, fields, owner.cookie);
        const { pathname, searchParams } = new URL(answer.headers.location!, 'http://portal.invalid');
        expect([action, answer.status, pathname]).toEqual([action, 303, '/confirm']);
        expect(pages).toContain(searchParams.get('next'));
      }
    }
    for (const path of SCRIPTED) {
      const answer = await portal.post(path, {}, owner.cookie).type('json').send({ credential: {} });
      expect([path, answer.status, answer.headers.location]).toEqual([path, 303, '/confirm?next=%2Faccount']);
    }
    expect(await make.query(STATE, [owner.organization.id, owner.user.id])).toEqual(before);
  }
});

it('somebody who has just confirmed opens every such page, and every such form does its work', async () => {
  for (const route of forms) {
    const owner = await school({ hook: !route.path.endsWith('/build-hook/add') });
    await confirm(owner, `now() - interval '14 minutes 30 seconds'`);
    const page = table.pageOf(route.handler)!;
    for (const path of await pathsOf(page, owner)) expect([path, (await portal.get(path, owner.cookie)).status]).toEqual([path, 200]);
    const before = await make.query(STATE, [owner.organization.id, owner.user.id]);
    const all = await formsOn(route, owner);
    expect([nameOf(route), all.length > 0]).toEqual([nameOf(route), true]);
    for (const { action, fields } of all) {
      const answer = await portal.post(action, fields, owner.cookie);
      expect([action, answer.status < 400, answer.headers.location ?? ''].join(' ')).not.toContain('/confirm');
    }
    expect([nameOf(route), await make.query(STATE, [owner.organization.id, owner.user.id])]).not.toEqual([nameOf(route), before]);
  }
});

it('of somebody who is removed at the same moment, no form does anything', async () => {
  for (const route of forms.filter(({ path }) => path.startsWith('/o/'))) {
    const owner = await school({ hook: !route.path.endsWith('/build-hook/add') });
    const ids = [owner.organization.id, owner.user.id];
    const [form] = await formsOn(route, owner);
    const removal = make.db.createQueryRunner();
    await removal.startTransaction();
    await removal.query('SELECT pg_advisory_xact_lock($1)', [lockNumber(`provisioning of ${owner.organization.id}`)]);
    await removal.query(`UPDATE members SET status = 'archived', archived_at = now() WHERE organization_id = $1 AND user_id = $2`, ids);
    const answered = portal.post(form!.action, form!.fields, owner.cookie).then(({ status }) => status);
    await vi.waitFor(async () => {
      const waiting = await make.query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      expect([nameOf(route), waiting.length]).toEqual([nameOf(route), 1]);
    });
    const before = (await removal.query(STATE, ids)) as object[];
    await removal.commitTransaction();
    await removal.release();
    expect(await answered).toBeLessThan(500);
    expect([nameOf(route), await make.query(STATE, ids)]).toEqual([nameOf(route), before]);
  }
});
