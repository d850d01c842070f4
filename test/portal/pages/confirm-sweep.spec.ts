import type { Route } from '../../../apps/portal/src/web/route-table.js';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { SchoolForms, type Sent } from '../../support/portal/school-forms.js';

/** Every form that the cookie alone may send. Add new ones here, and say why. */
const COOKIE_ALONE = [
  // These ask for a password themselves.
  'POST /confirm', 'POST /account/password',
  // What a tutor does after each lesson, and what somebody writes.
  'POST /my/:slug/lessons/:lesson_id/ask', 'POST /my/:slug/lessons/:lesson_id/complete', 'POST /my/:slug/write',
  // When somebody teaches, and what they claim: others decide about it.
  'POST /my/:slug/hours', 'POST /my/:slug/hours/time-off', 'POST /my/:slug/claims/expense', 'POST /my/:slug/claims/trip',
  'POST /my/:slug/claims/expenses/:claim_id/withdraw', 'POST /my/:slug/claims/mileage/:trip_id/withdraw',
  // Whoever has lost a device signs it out at once.
  'POST /account/sessions/end-others', 'POST /account/sessions/:session_id/end',
  // Whose calendar address somebody else has ends it at once.
  'POST /account/calendar/revoke', 'POST /o/:slug/people/:user_id/revoke-calendar',
  // Names, and a mail to the person's own address.
  'POST /account/name', 'POST /account/passkeys/:passkey_id/rename', 'POST /account/confirmation',
  // The person's own answers to what an organization offers.
  'POST /organizations/:organization_id/accept', 'POST /organizations/:organization_id/decline', 'POST /organizations/:organization_id/withdraw',
  // Mails to addresses that the organization has entered, calls to its hook, and the end of invites: nobody new comes in.
  'POST /o/:slug/people/:kind/:user_id/send-invite', 'POST /o/:slug/people/:kind/:user_id/revoke-invites',
  'POST /o/:slug/people/invites/:invite_id/revoke',
  // They write down what was taught, billed and paid elsewhere, move no money and give nobody access; each has a way back and an audit row.
  'POST /o/:slug/money/invoices/:invoice_id/finalize', 'POST /o/:slug/money/invoices/:invoice_id/void', 'POST /o/:slug/money/invoices/:invoice_id/send',
  'POST /o/:slug/money/invoices/:invoice_id/write-off',
  'POST /o/:slug/money/invoices/:invoice_id/add-line', 'POST /o/:slug/money/invoices/:invoice_id/remove-line',
  'POST /o/:slug/money/lines/:line_id', 'POST /o/:slug/money/drafts/issue', 'POST /o/:slug/money/pay-run/record',
  'POST /o/:slug/money/pay-run/:user_id/adjust', 'POST /o/:slug/money/pay-run/:user_id/void-adjustment', 'POST /o/:slug/money/pay-run/:user_id/void-payout',
  'POST /o/:slug/money/invoices/:invoice_id/pay', 'POST /o/:slug/money/families/:user_id/pay',
  'POST /o/:slug/money/payments/:payment_id/refund', 'POST /o/:slug/money/payments/:payment_id/void', 'POST /o/:slug/money/families/:user_id/draft',
  'POST /o/:slug/lessons/:lesson_id/complete', 'POST /o/:slug/lessons/:lesson_id/reopen',
  'POST /o/:slug/lessons/new', 'POST /o/:slug/lessons/:lesson_id/move', 'POST /o/:slug/lessons/:lesson_id/cancel', 'POST /o/:slug/lessons/:lesson_id/delete',
  'POST /o/:slug/money/approvals/mileage/:trip_id/:action', 'POST /o/:slug/money/approvals/expenses/:claim_id/:action',
  // When somebody teaches.
  'POST /o/:slug/people/:user_id/hours', 'POST /o/:slug/people/:user_id/hours/time-off',
  // Words that owners and admins read alone.
  'POST /o/:slug/people/:user_id/notes',
  // What is taught, and what it costs from now on.
  'POST /o/:slug/settings/prices',
  ...['subjects/:subject_id', 'levels/:rate_band_id', 'tiers/:tutor_tier_id'].flatMap((one) => {
    const path = `POST /o/:slug/settings/${one}`;
    return [path.split('/:').slice(0, 2).join('/:'), path, `${path}/delete`];
  }),
  // The state of what somebody wrote or asked for; nobody comes in, and nobody is mailed.
  'POST /o/:slug/enquiries/leads/:lead_id', 'POST /o/:slug/enquiries/requests/:request_id',
  'POST /o/:slug/inbox/:inbox_message_id/read', 'POST /o/:slug/inbox/:inbox_message_id/archive',
  'POST /o/:slug/outbox/messages/:message_id/retry', 'POST /o/:slug/build-hook/test',
  // Calls to an endpoint that somebody confirmed.
  'POST /o/:slug/webhooks/:endpoint_id/test', 'POST /o/:slug/webhooks/deliveries/:delivery_id/replay',
].sort(); // prettier-ignore

/** Pages that have such forms beside much to read: only their forms ask. */
const READ = [
  '/account',
  '/account/calendar',
  '/organizations',
  '/o/:slug/people',
  '/o/:slug/people/:user_id',
  '/o/:slug/people/invites',
  '/o/:slug/people/codes',
  '/o/:slug/outbox',
  '/o/:slug/webhooks/:endpoint_id',
  '/o/:slug/exports',
];

/** They lead to files, and have no form. */
const FILES = ['/o/:slug/exports/:export_id/file', '/account/data/download'];

/** Requests of the passkey script. */
const SCRIPTED = ['/account/passkeys', '/account/passkeys/options'];

const STATE = `
  SELECT 'key' AS what, to_jsonb(k) AS row FROM api_keys k WHERE organization_id = $1
  UNION ALL SELECT 'member', to_jsonb(m) FROM members m WHERE organization_id = $1 OR user_id = $2
  UNION ALL SELECT 'parent', to_jsonb(p) FROM parents p WHERE organization_id = $1
  UNION ALL SELECT 'child', to_jsonb(c) FROM parent_students c WHERE organization_id = $1
  UNION ALL SELECT 'invite', to_jsonb(i) FROM invites i WHERE organization_id = $1
  UNION ALL SELECT 'hook', to_jsonb(h) FROM rebuild_hooks h WHERE organization_id = $1
  UNION ALL SELECT 'endpoint', to_jsonb(w) FROM webhook_endpoints w WHERE organization_id = $1
  UNION ALL SELECT 'export', to_jsonb(e) FROM exports e WHERE organization_id = $1
  UNION ALL SELECT 'suppression', to_jsonb(s) FROM suppressions s WHERE organization_id = $1
  UNION ALL SELECT 'erasure', to_jsonb(e) FROM erasures e WHERE organization_id = $1
  UNION ALL SELECT 'retention', to_jsonb(r) FROM retention_settings r WHERE organization_id = $1
  UNION ALL SELECT 'mails', to_jsonb(f) FROM family_switches f WHERE organization_id = $1
  UNION ALL SELECT 'hold', to_jsonb(h) FROM holds h WHERE organization_id = $1
  UNION ALL SELECT 'logo', to_jsonb(g) FROM logos g WHERE organization_id = $1
  UNION ALL SELECT 'organization', to_jsonb(o) FROM organizations o WHERE id = $1
  UNION ALL SELECT 'deletion', to_jsonb(d) FROM account_deletions d WHERE user_id = $2
  UNION ALL SELECT 'calendar', to_jsonb(f) FROM calendar_feeds f WHERE user_id = $2
  UNION ALL SELECT 'passkey', to_jsonb(p) FROM passkeys p WHERE user_id = $2
  UNION ALL SELECT 'password', to_jsonb(c) FROM credentials c WHERE user_id = $2
  ORDER BY 1, 2`;

const portal = await TestPortal.shared();
const { make } = portal;
const schools = new SchoolForms(portal);
const { table } = schools;
const routes = portal.routes();
const confirming = routes.filter(({ confirmation }) => confirmation);
const forms = confirming.filter(({ method, path }) => method !== 'GET' && !SCRIPTED.includes(path));
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

/** When the session of a cookie was confirmed last, as SQL. */
const confirm = (owner: Someone, at: string) => make.query(`UPDATE portal_sessions SET confirmed_at = ${at} WHERE user_id = $1`, [owner.user.id]);

describe('every route', () => {
  it('asks people to confirm who they are before its form is sent, unless listed here', () => {
    const alone = routes.filter(({ method, access, confirmation }) => method !== 'GET' && access !== 'public' && !confirmation);
    expect(alone.map(nameOf).sort()).toEqual(COOKIE_ALONE);
    expect(confirming.filter(({ access }) => access === 'public' || access === 'probe').map(nameOf)).toEqual([]);
  });

  it('has a page, which asks too unless it is there to be read', () => {
    const pages = new Set([...forms].map(({ handler }) => table.pageOf(handler)));
    const asking = confirming.filter(({ method }) => method === 'GET').map(({ path }) => path);
    expect([...pages, ...FILES].sort()).toEqual([...asking, ...READ].sort());
  });
});

it.each([
  ['never', 'NULL'],
  ['15 minutes ago', `now() - interval '15 minutes'`],
])('somebody who confirmed %s sends no such form, and opens no such page', async (_when, at) => {
  const owners = await Promise.all(['', '/build-hook/add', '/exports'].map((path) => schools.open(path)));
  for (const owner of owners) {
    const before = await make.query(STATE, [owner.organization.id, owner.user.id]);
    const sent = new Map<Route, Sent[]>();
    for (const route of forms) sent.set(route, await schools.formsOn(route, owner));
    await confirm(owner, at);
    for (const route of confirming.filter(({ method }) => method === 'GET')) {
      for (const path of await schools.pathsOf(route.path, owner)) {
        const answer = await portal.get(path, owner.cookie);
        expect([path, answer.status, answer.headers.location]).toEqual([path, 303, `/confirm?${new URLSearchParams({ next: path }).toString()}`]);
      }
    }
    for (const [route, all] of sent) {
      const pages = await schools.pathsOf(table.pageOf(route.handler)!, owner);
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
    const owner = await schools.open(route.path);
    await confirm(owner, `now() - interval '14 minutes 30 seconds'`);
    const page = table.pageOf(route.handler)!;
    for (const path of await schools.pathsOf(page, owner)) expect([path, (await portal.get(path, owner.cookie)).status]).toEqual([path, 200]);
    const before = await make.query(STATE, [owner.organization.id, owner.user.id]);
    const all = await schools.formsOn(route, owner);
    expect([nameOf(route), all.length > 0]).toEqual([nameOf(route), true]);
    for (const { action, fields } of all) {
      const answer = await portal.post(action, fields, owner.cookie);
      expect([action, answer.status < 400, answer.headers.location ?? ''].join(' ')).not.toContain('/confirm');
    }
    expect([nameOf(route), await make.query(STATE, [owner.organization.id, owner.user.id])]).not.toEqual([nameOf(route), before]);
  }
});
