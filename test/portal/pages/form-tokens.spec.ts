import { globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { TestPortal } from '../../support/portal/portal.js';
import { SchoolForms, type Sent } from '../../support/portal/school-forms.js';

const portal = await TestPortal.shared();
const schools = new SchoolForms(portal);
const routes = portal.routes().filter(({ method, access }) => method === 'POST' && access === 'managers');

/** Forms that may be sent twice, by folder and the end of their path: the second one changes nothing, or is refused. */
const REPEATABLE = [
  // What they say is so already.
  'account/name', 'account/rename', 'settings/settings', 'settings/invoices', 'settings/on', 'settings/off', 'settings/mails', 'settings/logo', 'mails', 'people/billing', 'enquiries/requests', 'people/role', 'inbox/read', 'inbox/archive',
  'outbox/allow', 'outbox/retry', 'webhooks/enable', 'webhooks/disable', 'hooks/add', 'passwords', 'passwords/password', 'passwords/forgot-password', 'web/forgot-password',
  // What has ended has ended, and who has been decided about is decided about.
  'webhooks/delete', 'account/remove', 'account/delete', 'account/call-off', 'account/end', 'account/end-others', 'web/sign-out', 'join/sign-out', 'hooks/remove', 'keys/revoke', 'people/remove',
  'people/ask', 'people/call-off', 'people/hold',
  'people/reminders', 'people/revoke', 'people/revoke-invites', 'people/unlink', 'people/switch-off', 'people/undo', 'people/approve', 'people/release', 'people/decline',
  'home/accept', 'home/decline', 'home/leave', 'join/join', 'join/decline', 'join/withdraw', 'money/approve', 'money/reject', 'money/reimburse',
  // A replaced code is replaced; the second new secret is the one shown; nobody is mailed twice within minutes; a test is another call.
  'people/replace', 'hooks/rotate', 'people/invite', 'people/parents', 'people/resend', 'people/send-invite', 'hooks/test', 'webhooks/test', 'webhooks/replay',
  'sign-in/sign-in', 'sign-in/confirm', 'web/confirmation',
  // The second address replaces the first, as the page says; what is revoked is revoked.
  'calendar/make', 'calendar/revoke', 'people/revoke-calendar',
  // There is one export at a time.
  'exports', 'exports/prepare', 'exports/call-off',
]; // prettier-ignore

/** The posted forms of a template without a token. */
function withoutToken(file: string): string[] {
  const forms = readFileSync(file, 'utf8').matchAll(/<form\b(?:[^>]|%>)*?method="post"[\s\S]*?<\/form>/g);
  const untold = [...forms].filter(([form]) => !form.includes('name="form_token"'));
  return untold.map(([form]) => {
    const action = /action="((?:<%.*?%>|[^"])*)"/.exec(form)?.[1] ?? '';
    const end = action.replaceAll(/<%.*?%>/g, '').split('/').filter(Boolean).at(-1);
    return [basename(dirname(file)), end].filter(Boolean).join('/');
  });
} // prettier-ignore

it('a form without a token is one that may be sent twice', () => {
  const silent = globSync('apps/portal/src/**/*.eta').flatMap(withoutToken);
  expect(REPEATABLE.filter((form) => !silent.includes(form))).toEqual([]);
  const unsafe = silent.filter((form) => !REPEATABLE.includes(form));
  expect(unsafe.map((form) => `${form}: give it a form_token, or say why it may be sent twice`)).toEqual([]);
});

it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s, if its form has a token, is refused without it and counts once',
  async (_name, route) => {
    const owner = await schools.full(route);
    const [form] = await schools.formsOn(route, owner);
    const { form_token: token, ...rest } = form!.fields;
    if (token === undefined) return;
    expect(token).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const send = (fields: Sent['fields']) => portal.post(form!.action, fields, owner.cookie);
    const rows = () => portal.make.query('SELECT FROM audit_log WHERE organization_id = $1', [owner.organization.id]);
    const before = await rows();
    await send(rest).expect(400);
    expect(await rows()).toHaveLength(before.length);
    // The first answer may show a secret.
    expect([200, 303]).toContain((await send({ ...rest, form_token: token })).status);
    expect((await send({ ...rest, form_token: token })).status).toBe(303);
    expect(await rows()).toHaveLength(before.length + 1);
  },
);
