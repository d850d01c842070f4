import { randomBytes, randomUUID } from 'node:crypto';
import { Invites } from '@app/people';
import type { Tables } from '../database/tables.js';
import type { JoinFixture } from './join-fixture.js';
import { busyOffice } from './join-states.js';
import type { PeoplePages } from './people-pages.js';

const LONG = 'A rather long name, as people give one';

/** An organization with more of everything than a page shows, in every state. */
export interface FullOrganization extends PeoplePages {
  slug: string;
  /** A key that can be replaced. */
  keyId: string;
  /** A code by which people have come. */
  codeId: string;
  /** A webhook endpoint that fails, and a call with its answer. */
  endpointId: string;
  deliveryId: string;
  /** A booking request. */
  requestId: string;
  /** An invoice in each state. */
  invoices: Record<Tables['invoices']['status'], string>;
  /** A student and a parent with much money. */
  payers: string[];
  /** A session to complete, and one that is completed. */
  lessons: string[];
  /** A payment that can be refunded. */
  paymentId: string;
}

/** Fills an organization, and the account of its owner. */
export async function fullOrganization(joining: JoinFixture): Promise<FullOrganization> {
  const office = await busyOffice(joining);
  const { provisioning, owner, base } = office;
  const slug = base.split('/')[2]!;
  const { make } = joining.portal;
  const at = provisioning.id;
  const wish = { user: { firstName: LONG, lastName: LONG } };
  for (let more = 0; more < 60; more++) {
    await make.student(at, wish);
    await make.member(at, { ...wish, role: 'student', status: 'archived' });
    const tutor = await make.tutor(at, wish);
    const asks = `UPDATE members SET status = 'pending', approval_requested_at = now() WHERE user_id = $1`;
    // More than a page shows, and fewer than may wait.
    if (more >= 40) continue;
    await make.query(asks, [tutor.id]);
    // Their forms name them four times each, and a page has a limit of bytes.
    await make.query(`UPDATE members SET supplied_first_name = 'Ada', supplied_last_name = 'Lovelace' WHERE user_id = $1`, [tutor.id]);
  }
  for (let more = 0; more < 30; more++) {
    const email = `a-long-address-${more}@example.org`;
    await joining.invite(provisioning, { scope: 'organization', role: 'student', email });
    await joining.api.keys.create(at, { name: `${LONG} ${more}`, scopes: ['read', 'write'] });
  }
  await fillClaims(joining, at);
  const keyId = await fillKeys(joining, at);
  const codeId = await fillCodes(joining, office);
  await make.query(
    `INSERT INTO suppressions (organization_id, email_normalized, refused_at, suppressed_until)
     SELECT $1, 'a-rather-long-address-' || n || '@example.org', now() - interval '1 day', now() + interval '1 day' FROM generate_series(1, 300) n`,
    [at],
  );
  await make.query(
    `INSERT INTO inbox_messages (id, organization_id, guest_name, guest_email, message, status)
     SELECT gen_random_uuid(), $1, $2, 'a-rather-long-address-' || n || '@example.org', repeat('A long question. ', 20),
       (ARRAY['unread', 'read', 'archived'])[1 + n % 3] FROM generate_series(1, 80) n`,
    [at, LONG],
  );
  await make.query(
    `INSERT INTO outbox (id, organization_id, topic, kind, recipient, payload, status, attempts, last_error, finished_at)
     SELECT gen_random_uuid(), $1::uuid, 'email', 'organization_invite', 'a-long-address-' || n || '@example.org', '\\x00'::bytea, 'dead',
       8, 'smtp_550', now() FROM generate_series(1, 60) n
     UNION ALL SELECT gen_random_uuid(), $1::uuid, 'email', 'parent_invite', status || '@example.org', '\\x00'::bytea, status, 8,
       'host_not_found', CASE WHEN status IN ('sent', 'suppressed') THEN now() END
       FROM unnest('{queued,failed,sent,suppressed}'::text[]) status`,
    [at],
  );
  await make.query(
    `INSERT INTO request_log (id, organization_id, api_key_id, request_id, method, route, status, duration_ms, created_at)
     SELECT gen_random_uuid(), $1, $2, $3, 'GET', '/v1/student-groups/:student_group_id/students', 200 + n % 2 * 204, 12.5,
       now() - n * interval '90 minutes' FROM generate_series(1, 110) n`,
    [at, keyId, randomUUID()],
  );
  await owner.post(`/o/${slug}/build-hook/add`, { url: 'https://build.example.org/hook' });
  await make.query(
    `INSERT INTO outbox (id, organization_id, topic, kind, recipient, status, last_error, attempts, finished_at)
     SELECT gen_random_uuid(), $1::uuid, 'rebuild', kind, 'organization:' || $1::text, status, problem, 8, now()
     FROM (VALUES ('test', 'sent', NULL), ('rebuild', 'dead', 'http_404'), ('rebuild', 'queued', NULL)) c (kind, status, problem)`,
    [at],
  );
  const hooks = await fillWebhooks(joining, at);
  const requestId = await fillEnquiries(joining, at);
  const money = await fillMoney(joining, at);
  await fillAccount(joining, office.ownerId);
  return Object.assign(office, { slug, keyId, codeId, requestId, ...hooks, ...money });
}

/** Trips and expenses in every state. */
async function fillClaims({ portal: { make } }: JoinFixture, at: string): Promise<void> {
  const { id } = await make.tutor(at, { user: { firstName: LONG, lastName: LONG } });
  for (const status of ['logged', 'approved', 'rejected', 'reimbursed'] as const) {
    for (let more = 0; more < 20; more++) {
      await make.mileage(at, id, { status, destination: LONG, amountCents: 123_456_789 });
      await make.expense(at, id, { status, category: 'other', vendor: LONG, receiptPhotoUrl: `https://example.org/${more}` });
    }
  }
}

/** A family with invoices in every state, payments and sessions that nobody has completed. */
async function fillMoney({ portal: { make } }: JoinFixture, at: string) {
  const child = await make.student(at, { user: { firstName: LONG, lastName: LONG } });
  const parent = await make.parent(at, { children: [child.id], user: { firstName: LONG, lastName: LONG } });
  const tutor = await make.tutor(at, { user: { firstName: LONG, lastName: LONG } });
  const invoices = {} as FullOrganization['invoices'];
  const payment = {
    amountCents: 123_456_789,
    paymentType: 'bank_transfer',
    receivedOn: '2026-03-02',
    recorded: true,
    creditCents: 23_456_789,
  } as const;
  const { id: paymentId } = await make.payment(at, { ...payment, parentId: parent.id });
  for (let more = 0; more < 30; more++) {
    for (const status of ['draft', 'open', 'paid', 'void', 'uncollectible'] as const) {
      const amounts = { amountDueCents: 123_456_789, amountPaidCents: status === 'open' ? 100_000_000 : 0 };
      const day = more % 2 ? '2020-01-31' : '2199-12-31';
      const number = status === 'draft' ? null : `${status} of a former system, number ${more}`;
      const { id } = await make.invoice(at, child.id, { status, invoiceNumber: number, dueDate: day, sentAt: new Date(), ...amounts });
      invoices[status] = id;
      for (const position of more === 29 ? [0, 1, 2] : [0])
        await make.invoiceLine(at, id, { position, description: LONG.repeat(4), quantity: position + 1, amountCents: 41_152_263 });
      const applied = { organizationId: at, paymentId, invoiceId: id, amountCents: 100_000_000 };
      if (status === 'open') await make.row('payment_allocations', applied);
    }
    await make.payment(at, { ...payment, studentId: child.id, refundAmountCents: 100 });
    await make.session(at, { tutorId: tutor.id, title: LONG, status: 'scheduled', startsAt: new Date(Date.UTC(2026, 0, 1 + more)) });
  }
  const lessons: string[] = [];
  for (const status of ['scheduled', 'completed'] as const) {
    const { id } = await make.session(at, { tutorId: tutor.id, title: LONG, status, startsAt: new Date(Date.UTC(2026, 1, 1)) });
    for (let more = 0; more < 12; more++) {
      const { id: studentId } = await make.student(at, { user: { firstName: LONG, lastName: LONG } });
      await make.participant(at, id, studentId, {
        status: 'accepted',
        rateCents: 123_456_789,
        ...(status === 'completed' && { billedCents: 123_456_789 }),
      });
    }
    lessons.push(id);
  }
  return { invoices, lessons, payers: [child.id, parent.id], paymentId };
}

/** Keys in every state, and half a year of revoked ones. @returns the id of one that can be replaced */
async function fillKeys({ api, portal: { make } }: JoinFixture, at: string): Promise<string> {
  await api.keys.create(at, { name: 'Soon', expiresAt: { inDays: 9 } });
  const expired = await api.keys.create(at, { name: 'Import of 2025' });
  const replaced = await api.keys.create(at, { name: 'Till', platformBlog: true, expiresAt: { inDays: 90 } });
  await api.keys.replace(at, replaced.id, { overlap: '7d' });
  const { id } = await api.keys.create(at, { name: 'Accounting' });
  await make.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired.id]);
  await make.query(`UPDATE api_keys SET last_used_at = now() - interval '5 minutes' WHERE id = $1`, [id]);
  await make.query(
    `INSERT INTO api_keys (id, organization_id, name, first_four, last_four, key_hash, scopes, revoked_at, last_used_at)
     SELECT gen_random_uuid(), $1, $2 || n, 'aaaa', 'bbbb', sha256(n::text::bytea), '{read}', now(),
       now() - n * interval '1 minute' FROM generate_series(1, 2000) n`,
    [at, LONG],
  );
  return id;
}

/** Codes in every state, and many people who came by one. @returns that one */
async function fillCodes({ portal: { app, make } }: JoinFixture, { provisioning, ownerId }: PeoplePages): Promise<string> {
  const at = provisioning.id;
  await app.get(Invites).ensurePermanentCodes(at);
  const { id: classroom } = await make.classroom(at, { name: LONG });
  for (let more = 0; more < 30; more++) await provisioning.post('/v1/invites', { scope: 'classroom', classroom_id: classroom });
  const codes = await make.query<{ id: string }>(
    `SELECT id FROM invites WHERE organization_id = $1 AND scope = 'classroom' ORDER BY created_at DESC, id DESC`,
    [at],
  );
  const [code, off, replaced, expired] = codes.map(({ id }) => id);
  await make.query(
    `INSERT INTO joins (organization_id, invite_id, user_id, joined_at)
     SELECT $1, i.id, m.user_id, m.created_at FROM members m, unnest($2::uuid[]) i (id)
     WHERE m.organization_id = $1 AND m.role = 'student' AND m.status <> 'archived'`,
    [at, [code, replaced]],
  );
  await make.query('UPDATE invites SET revoked_at = now(), switched_off = id = $1, created_by = $3 WHERE id IN ($1, $2)', [off, replaced, ownerId]);
  await make.query('UPDATE invites SET expires_at = now() WHERE id = $1', [expired]);
  await make.query('DELETE FROM joins WHERE organization_id = $1 AND invite_id = $2 AND user_id IN (SELECT user_id FROM joins LIMIT 3)', [
    at,
    replaced,
  ]);
  return code!;
}

/** Endpoints in every state, and calls of one that fails. */
async function fillWebhooks({ portal: { make } }: JoinFixture, organizationId: string) {
  const own = { organizationId, secret: randomBytes(60), description: LONG };
  const failing = { failingSince: new Date(Date.now() - 172_800_000), failedAt: new Date() };
  const rotated = { previousSecret: randomBytes(60), previousUntil: new Date(Date.now() + 3_600_000) };
  const add = (url: string, more: Partial<Tables['webhook_endpoints']>) =>
    make.row('webhook_endpoints', { ...own, url: `https://hooks.example.org/${url}`, ...more });
  await add(LONG.replaceAll(' ', '-').repeat(5), { description: null });
  for (const disabledReason of ['request', 'gone', 'failing', 'maker_left'] as const) await add('off', { disabledReason, disabledAt: new Date() });
  const types = { eventTypes: ['session.*', 'attendance.marked', 'booking_request.created', 'invoice.finalized', 'invoice.paid'] };
  const { id: endpointId } = await add('tutoring', { ...types, ...failing, ...rotated });
  const [{ id: deliveryId }] = (await make.query<{ id: string }>(
    `INSERT INTO outbox (id, organization_id, topic, kind, recipient, event_id, status, attempts, last_error, response_status, duration_ms, answer,
       tried_at, finished_at, created_at)
     SELECT gen_random_uuid(), $1, 'webhook', 'session.completed', $2, gen_random_uuid(), s, 3, CASE WHEN s <> 'sent' THEN 'http_500' END,
       CASE s WHEN 'sent' THEN 204 ELSE 500 END, 1234, repeat('<p>The answer of a server that is not well.</p> ', 40), now(),
       CASE WHEN s IN ('sent', 'dead') THEN now() END, now() - n * interval '1 hour'
     FROM generate_series(1, 12) n, unnest('{dead,failed,held,queued,sent}'::text[]) s RETURNING id`,
    [organizationId, endpointId],
  )) as [{ id: string }];
  return { endpointId, deliveryId };
}

/** Leads and requests in every state. @returns the id of a request */
async function fillEnquiries({ portal: { make } }: JoinFixture, organizationId: string): Promise<string> {
  const subject = await make.subject(organizationId, { name: LONG });
  const student = await make.student(organizationId, { user: { firstName: LONG, lastName: LONG } });
  const ids: string[] = [];
  for (let more = 0; more < 40; more++) {
    const status = (['new', 'contacted', 'consultation_booked', 'converted', 'lost'] as const)[more % 5]!;
    const lead = { name: `${LONG} ${more}`, email: `a-rather-long-address-${more}@example.org`, phone: '+61 3 5550 1234', notes: LONG.repeat(5) };
    await make.row('leads', { organizationId, ...lead, subject: LONG, status });
    const asked = (['pending', 'matched', 'declined', 'expired'] as const)[more % 4]!;
    const wish = { preferredMode: 'in_person' as const, preferredDays: ['monday', 'thursday'], durationMinutes: 60, message: LONG.repeat(5) };
    ids.push((await make.row('booking_requests', { organizationId, subjectId: subject.id, studentId: student.id, status: asked, ...wish })).id);
  }
  return ids[0]!;
}

/** Gives a person many sessions, passkeys and invitations. */
async function fillAccount({ portal: { make } }: JoinFixture, userId: string): Promise<void> {
  await make.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [userId]);
  await make.query(
    `INSERT INTO portal_sessions (id, secret_hash, user_id, user_agent, network)
     SELECT gen_random_uuid(), sha256(n::text::bytea), $1, $2, '2001:db8:1234:5600::/56' FROM generate_series(1, 150) n`,
    [userId, 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0'],
  );
  await make.query(
    `INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name)
     SELECT gen_random_uuid(), $1, sha256(n::text::bytea), '\\x01', 0, $2 || n FROM generate_series(1, 20) n`,
    [userId, LONG],
  );
  for (let more = 0; more < 50; more++) {
    const { id } = await make.organization({ name: `${LONG} ${more}` });
    await make.query(
      `INSERT INTO members (id, organization_id, user_id, role, status, supplied_first_name, supplied_last_name, supplied_email)
       VALUES (gen_random_uuid(), $1, $2, 'tutor', 'pending', 'A', 'B', 'a@example.org')`,
      [id, userId],
    );
  }
}
