import { randomBytes, randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { type Route, RouteTable } from '../../../apps/portal/src/web/route-table.js';
import { delivery, webhooks } from '../data/webhook-rows.js';
import { PASSWORD, type Someone, type TestPortal } from './portal.js';

const HOUR = 3_600_000;

/** Ids in a school ($1) and of its owner ($2), by path parameter. */
export const IDS: Record<string, string> = {
  key_id: 'SELECT id FROM api_keys WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  user_id: `SELECT user_id AS id FROM members WHERE organization_id = $1 AND $2::uuid IS NOT NULL
    UNION SELECT user_id FROM parents WHERE organization_id = $1`,
  invite_id: `SELECT id FROM invites WHERE organization_id = $1 AND $2::uuid IS NOT NULL AND email IS NULL`,
  lesson_id: 'SELECT id FROM sessions WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  invoice_id: 'SELECT id FROM invoices WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  line_id: `SELECT l.id FROM invoice_lines l JOIN invoices i ON i.id = l.invoice_id WHERE l.organization_id = $1 AND $2::uuid IS NOT NULL AND i.status = 'draft'`,
  payment_id: 'SELECT id FROM payments WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  endpoint_id: 'SELECT id FROM webhook_endpoints WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  delivery_id: `SELECT id FROM outbox WHERE organization_id = $1 AND $2::uuid IS NOT NULL AND topic = 'webhook' AND finished_at IS NOT NULL AND event_id IS NULL`,
  ...Object.fromEntries(
    (['subject', 'rate_band', 'tutor_tier'] as const).map((one) => [
      `${one}_id`,
      `SELECT id FROM ${one}s WHERE organization_id = $1 AND $2::uuid IS NOT NULL`,
    ]),
  ),
  export_id: 'SELECT id FROM exports WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  lead_id: 'SELECT id FROM leads WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  request_id: 'SELECT id FROM booking_requests WHERE organization_id = $1 AND $2::uuid IS NOT NULL',
  // Of the page after leaving.
  organization_id: 'SELECT organization_id AS id FROM members WHERE user_id = $2 AND organization_id <> $1',
};

/** What the address of a page asks before it has its form, of a school ($1). */
const ASKED: Record<string, string> = {
  '/o/:slug/lessons/new': `SELECT '?check=yes&day=2030-01-07&start=10:00&student=' || min(user_id::text) FILTER (WHERE role = 'student')
    || '&tutor=' || min(user_id::text) FILTER (WHERE role = 'owner') AS query FROM members WHERE organization_id = $1 AND status = 'accepted'`,
};

/** What somebody types or chooses. What a form holds already, the page says. */
const TYPED = {
  ...{ name: 'Till', access: 'read', expires: 'never', overlap: 'now', sessions: 'unassign', role: 'tutor' },
  ...{ first_name: 'Ada', last_name: 'Byron', email: 'ada@example.org' },
  ...{
    description: 'Book',
    unit: '5',
    amount: '5',
    payment_type: 'cash',
    reason: 'Mistake',
    note: 'Bonus',
    starts_on: '2099-01-01',
    phone: '+61 3 9000 0000',
  },
  ...{
    billing_name: 'Ada Lovelace',
    staff_notes: 'Prefers mornings.',
    legal_name: 'Byron Pty Ltd',
    line_tax: 'free',
    reply_address: 'office@byron.example',
  },
  ...{ url: 'https://build.example.org/hook', password: PASSWORD },
};

/** A form as a browser sends it. */
export interface Sent {
  action: string;
  fields: Record<string, string | Buffer>;
}

/** What somebody chooses where a form asks for a file. */
const PICTURE = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'teal' } })
  .png()
  .toBuffer();

/** Organizations in which every form has something to change, and the forms of their pages. */
export class SchoolForms {
  readonly table: RouteTable;

  constructor(private readonly portal: TestPortal) {
    this.table = portal.app.get(RouteTable);
  }

  /** An organization in which every form has something to change. @param path the route of a form that is shown only while something is missing, such as a build hook */
  async open(path = ''): Promise<Someone> {
    const { portal } = this;
    const { make } = portal;
    const owner = await portal.someone('owner');
    const at = owner.organization.id;
    const elsewhere = await make.organization();
    await make.member(elsewhere.id, { userId: owner.user.id, role: 'tutor', status: 'accepted' });
    await make.member(at, { role: 'admin', status: 'accepted' });
    const waiting = await make.member(at, { role: 'tutor', status: 'pending' });
    await make.query('UPDATE members SET approval_requested_at = now() WHERE user_id = $1', [waiting.id]);
    const child = await make.student(at);
    await make.parent(at, { children: [child.id] });
    const left = () => make.member(at, { role: 'student', status: 'archived', acceptedAt: new Date('2026-01-01') });
    await left();
    await make.row('erasures', { organizationId: at, personId: (await left()).id, dueAt: new Date(Date.now() + HOUR) });
    await make.row('holds', { organizationId: at, userId: (await left()).id, reason: 'A dispute' });
    await make.row('calendar_feeds', { organizationId: at, userId: owner.user.id, tokenHash: randomBytes(32) });
    await make.row('family_switches', { organizationId: at, kind: 'reminders' });
    await make.row('retention_settings', { organizationId: at, kind: 'inbox', months: 24 });
    await make.query(
      `INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name)
     SELECT gen_random_uuid(), $1::uuid, sha256(convert_to($1::uuid::text || n, 'UTF8')), '\\x01', 0, 'x' FROM generate_series(1, 2) n`,
      [owner.user.id],
    );
    await make.query(
      `INSERT INTO invites (id, organization_id, scope, role, target_id, email, secret_hash, expires_at, held_at)
     VALUES (gen_random_uuid(), $1::uuid, 'organization', 'student', $1::uuid, 'somebody@example.org', $2, now() + interval '1 day', now())`,
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
    await make.query(
      `INSERT INTO suppressions (organization_id, email_normalized, suppressed_until) VALUES ($1, 'gone@example.org', now() + interval '1 day')`,
      [at],
    );
    const base = `/o/${owner.organization.slug}`;
    await portal.post(`${base}/keys`, { ...TYPED, form_token: randomUUID() }, owner.cookie).expect(303);
    await webhooks(make, at);
    await delivery(make, at);
    if (path === '/account/delete') await portal.setPassword((await make.member(at, { role: 'owner', status: 'accepted' })).id);
    if (path === '/account/delete/call-off')
      await make.query(`INSERT INTO account_deletions (user_id, due_at) VALUES ($1, now() + interval '1 day')`, [owner.user.id]);
    if (!path.endsWith('/exports')) await make.row('exports', { organizationId: at, status: 'asked' });
    if (!path.endsWith('/build-hook/add')) await portal.post(`${base}/build-hook/add`, TYPED, owner.cookie).expect(200);
    return owner;
  }

  /** An organization with something for every form of its managers. */
  async full(route: Route): Promise<Someone> {
    const { make } = this.portal;
    const owner = await this.open(route.path);
    const organizationId = owner.organization.id;
    const tutor = await make.tutor(organizationId);
    const student = await make.student(organizationId);
    // Somebody else's calendar: the sender's own ends with their membership.
    await make.query('DELETE FROM calendar_feeds WHERE organization_id = $1', [organizationId]);
    await make.row('calendar_feeds', { organizationId, userId: tutor.id, tokenHash: randomBytes(32) });
    const invited = await make.member(organizationId, { role: 'tutor', status: 'pending', acceptedAt: null, suppliedEmail: 'invited@example.org' });
    await make.row('invites', {
      organizationId,
      scope: 'account',
      role: 'tutor',
      targetId: invited.id,
      email: 'invited@example.org',
      expiresAt: new Date(Date.now() + HOUR),
    });
    for (const status of ['draft', 'open'] as const) {
      const { id } = await make.invoice(organizationId, student.id, {
        status,
        amountDueCents: 500,
        ...(status === 'open' && {
          invoiceNumber: 'INV-000001',
          taxCents: 0,
          snapshot: { issued_on: '2026-01-01', buyer: { student_name: 'Mia', name: 'Mia', address: null } },
        }),
      });
      await make.invoiceLine(organizationId, id, { quantity: 1, unitAmountCents: 500, amountCents: 500 });
    }
    await make.payment(organizationId, { studentId: student.id, recorded: true, amountCents: 500, creditCents: 500, status: 'succeeded' });
    for (const status of ['logged', 'approved'] as const) {
      await make.mileage(organizationId, tutor.id, { status });
      await make.expense(organizationId, tutor.id, { status });
    }
    for (const status of ['scheduled', 'completed'] as const) {
      const startsAt = new Date(Date.now() - 9 * HOUR);
      const { id } = await make.session(organizationId, { tutorId: tutor.id, status, startsAt, endsAt: new Date(startsAt.getTime() + HOUR) });
      await make.participant(organizationId, id, student.id, { status: 'accepted', attendance: null, rateCents: 5_000 });
    }
    await make.row('adjustments', { organizationId, tutorId: tutor.id, periodStart: '2026-01-01', periodEnd: '2026-01-31', amountCents: 5_000 });
    await make.row('payouts', { organizationId, tutorId: tutor.id, amountCents: 1_000, currency: 'AUD', recorded: true, paidAt: new Date() });
    await make.subject(organizationId, { name: 'Mathematics' });
    await make.row('rate_bands', { organizationId, name: 'Years 11 and 12' });
    await make.row('tutor_tiers', { organizationId, name: 'Senior' });
    await make.row('leads', { organizationId, name: 'Priya', status: 'new' });
    await make.row('booking_requests', { organizationId, status: 'pending' });
    await make.row('inbox_messages', { organizationId, message: 'Hello', status: 'unread' });
    const address = `${randomUUID()}@example.org`;
    await make.query(
      `INSERT INTO outbox (id, organization_id, topic, kind, recipient, payload, status, attempts, last_error, finished_at)
       VALUES (gen_random_uuid(), $1, 'email', 'organization_invite', $2, '\\x00', 'dead', 8, 'smtp_550', now())`,
      [organizationId, address],
    );
    return owner;
  }

  /** The paths of a route in a school. */
  async pathsOf(path: string, { organization, user }: Someone): Promise<string[]> {
    const filled = path.replace(':slug', organization.slug);
    const [, name] = /:([^/]+)/.exec(filled) ?? [];
    if (path in ASKED) {
      const [asked] = await this.portal.make.query<{ query: string }>(ASKED[path]!, [organization.id]);
      return [filled + asked!.query];
    }
    if (name === undefined) return [filled];
    const rows = await this.portal.make.query<{ id: string }>(IDS[name]!, [organization.id, user.id]);
    return rows.map(({ id }) => filled.replace(`:${name}`, id));
  }

  /** The forms of a route, as its page shows them to somebody who has just confirmed. */
  async formsOn(route: Route, owner: Someone): Promise<Sent[]> {
    const found: Sent[] = [];
    for (const page of await this.pathsOf(this.table.pageOf(route.handler)!, owner)) {
      const { text } = await this.portal.get(page, owner.cookie);
      for (const [, action, inside] of text.matchAll(/<form[^>]* action="([^"]+)"[^>]*>(.*?)<\/form>/gs)) {
        if (this.table.match('POST', action!)?.handler !== route.handler) continue;
        const hidden = [...inside!.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
        const kept = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!.replaceAll('&amp;', '&')]));
        const files = [...inside!.matchAll(/<input[^>]* name="([^"]+)" type="file"/g)].map(([, name]) => [name!, PICTURE] as const);
        const shown = shownIn(inside!);
        // An address is one person's.
        const own = action!.endsWith('/edit') ? { email: shown.email ?? '' } : {};
        found.push({ action: action!, fields: { ...shown, ...TYPED, ...own, ...kept, ...Object.fromEntries(files) } });
      }
    }
    return found;
  }
}

/** What a form holds before anybody types: its values, and what is selected. */
function shownIn(form: string): Record<string, string> {
  const values = [...form.matchAll(/<input[^>]* name="([^"]+)"[^>]* value="([^"]+)"/g)].filter(([tag]) => !/checkbox|radio/.test(tag));
  const selects = [...form.matchAll(/<select[^>]* name="([^"]+)".*?<\/select>/gs)].map(([select, name]) => {
    const [, value = ''] = /value="([^"]*)" selected/.exec(select) ?? /value="([^"]*)"/.exec(select) ?? [];
    return [name!, value] as const;
  });
  return Object.fromEntries([...values.map(([, name, value]) => [name!, value!] as const), ...selects]);
}
