import { brokenInvariants, INVARIANT_NAMES, type InvariantName } from '@app/database';
import { MoneyFixture } from '../support/data/money-fixture.js';
import { TestApi } from '../support/http/api.js';
import { fixture } from '../support/process/fixture.js';

const api = await fixture(TestApi.start());
const at = await MoneyFixture.open(api);
const { make } = api;
const { school, t1 } = at.calendar;
const [mia, zoe] = at.students;
const quoted = (text: string) => `'${text}'`;
const [org, tutor, student, other, parent] = [school, t1, mia, zoe, at.parent].map(quoted) as [string, string, string, string, string];

/** Two invoices, the first of which a parent's money has paid, and a lesson that is on neither. */
await at.taught(60);
const paid = await at.issued(mia, 1_000, { due_date: '2030-01-01' });
const payment = at.done(await at.pay({ parent_id: at.parent, amount_cents: 1_000 })) as unknown as { id: string };
const open = await at.issued(mia, 2_000, { due_date: '2030-01-02' });
const own = await at.paid(zoe, 500);
const draft = await at.draft(mia);
const session = await at.lesson(60);
const ahead = await at.calendar.book('2031-03-03T09:00:00Z');
const { id: gone } = await make.tutor(school, { status: 'archived', acceptedAt: new Date('2026-01-01'), archivedAt: new Date() });
const { id: owner } = await make.member(school, { role: 'owner' });
const { id: left } = await make.student(school, { status: 'archived', acceptedAt: new Date('2026-01-01') });
const { id: classroom } = await make.classroom(school);
const result = await make.result(mia);
const conversation = await make.conversation({ participants: [owner, mia] });
const others = await make.conversation({ participants: [owner, zoe] });
const message = await make.message(conversation.id);
const group = await make.group(school);

const key = (id: string, by: string) => `INSERT INTO api_keys (id, organization_id, name, key_hash, first_four, last_four, created_by)
  VALUES ('${id}', ${org}, 'x', sha256('${id}'), 'abcd', 'abcd', '${by}')`;
const ID = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';
const invite = (columns: string, values: string, id = ID) => `INSERT INTO invites
  (id, organization_id, scope, role, target_id, secret_hash, expires_at, ${columns})
  VALUES ('${id}', ${org}, 'organization', 'student', ${org}, sha256('${id}'), now() + interval '1 day', ${values})`;
const standing = (id: string) => `INSERT INTO invites (id, organization_id, scope, role, target_id, secret_hash, standing, sealed)
  VALUES ('${id}', ${org}, 'organization', 'tutor', ${org}, sha256('${id}'), true, 'x')`;
const waits = (person: string) => `INSERT INTO joins (organization_id, invite_id, user_id, approval) VALUES (${org}, '${ID}', ${person}, 'waiting')`;

/** Rows that break each invariant, written without triggers. */
const PLANTED: Record<InvariantName, string> = {
  'invoice lines': `UPDATE invoices SET amount_due_cents = amount_due_cents + 1 WHERE id = '${draft.id}'`,
  'invoice payments': `UPDATE invoices SET amount_paid_cents = 1 WHERE id = '${open.id}'`,
  'invoice state': `UPDATE invoices SET status = 'open', amount_paid_cents = 0 WHERE id = '${paid.id}';
    UPDATE invoices SET paid_at = now() WHERE id = '${paid.id}'`,
  'invoice numbers': `UPDATE invoices SET invoice_number = 'INV-000009' WHERE id = '${open.id}'`,
  'payment parts': `DELETE FROM payment_allocations WHERE payment_id = '${payment.id}'`,
  'whose invoice': `UPDATE payments SET student_id = ${other}, parent_id = NULL WHERE id = '${payment.id}'`,
  'credit beside debt': `UPDATE payments SET student_id = ${student} WHERE id = '${own.id}'`,
  'own money first': `UPDATE payments SET student_id = ${student}, created_at = now() - interval '1 day' WHERE id = '${own.id}'`,
  'oldest due first': `UPDATE invoices SET due_date = '2029-01-01', sent_at = now() - interval '1 day' WHERE id = '${open.id}'`,
  'lesson bills': `UPDATE lesson_participants SET billed_cents = billed_cents + 1 WHERE billed_cents > 0`,
  'price of a lesson': `UPDATE lesson_participants SET rate_cents = rate_cents + 60 WHERE billed_cents > 0`,
  'billed once': `UPDATE lesson_participants SET billed_cents = billed_cents - 1 WHERE billed_cents > 0`,
  'month of a payout': `INSERT INTO payouts (id, organization_id, tutor_id, amount_cents, currency, paid_at, counts_at)
    VALUES ('${ID}', ${org}, ${tutor}, 1, 'AUD', now(), now() - interval '40 days')`,
  'tutor booked once': `ALTER TABLE sessions DROP CONSTRAINT sessions_overlap; UPDATE sessions SET overlap_allowed = false`,
  'tutor of a session': `UPDATE sessions SET tutor_id = NULL WHERE id = '${session.id}'`,
  'places of students': `UPDATE lesson_participants SET student_id = ${tutor} WHERE session_id = '${session.id}'`,
  'the only student': `UPDATE sessions SET student_id = ${other} WHERE id = '${session.id}'`,
  'completed when over': `UPDATE sessions SET status = 'completed' WHERE id = '${ahead.body.id}'`,
  'places in a cancelled session': `UPDATE sessions SET status = 'cancelled' WHERE id = '${session.id}'`,
  'sessions of a student': `UPDATE session_students SET occurrences = occurrences + 1 WHERE student_id = ${student}`,
  acceptance: `UPDATE members SET accepted_at = NULL WHERE user_id = ${student}`,
  'logins that are seen': `UPDATE users SET seen_by = '{}' WHERE id = ${student}`,
  'results that are seen': `UPDATE organization_results SET status = 'submitted' WHERE result_id = '${result.id}'`,
  'conversations that are seen': `UPDATE organization_conversations SET participants = '[]' WHERE conversation_id = '${conversation.id}'`,
  'last message': `UPDATE conversations SET last_message_at = NULL WHERE id = '${conversation.id}'`,
  replies: `INSERT INTO messages (id, organization_id, conversation_id, content, reply_to_id)
    VALUES ('${ID}', ${org}, '${others.id}', 'x', '${message.id}')`,
  enrolment: `DELETE FROM parent_students WHERE parent_id = ${parent}`,
  'published profiles': `UPDATE tutor_profiles SET is_published = true WHERE user_id = ${tutor}`,
  'groups that are seen': `UPDATE student_groups SET organization_id = NULL WHERE id = '${group.id}'`,
  'totals of lists': `UPDATE list_counts SET delta = delta + 1 WHERE list = 'members:student:accepted'`,
  'turns of the outbox': `INSERT INTO outbox (id, organization_id, topic, kind, recipient) VALUES ('${ID}', ${org}, 'email', 'k', 'r')`,
  'keys of managers': key(ID, t1),
  'relations of the left': `INSERT INTO tutor_students (id, organization_id, tutor_id, student_id) VALUES ('${ID}', ${org}, '${gone}', ${student})`,
  'places of the left': `UPDATE classrooms SET tutor_id = '${gone}' WHERE id = '${classroom}'`,
  'sessions of the left': `UPDATE lesson_participants SET student_id = '${left}' WHERE session_id = '${ahead.body.id}'`,
  'work of the left': `UPDATE tutor_profiles SET is_published = true WHERE user_id = '${gone}'`,
  'links of the left': `${invite('email', `'x@example.org'`)}; UPDATE invites SET scope = 'account', target_id = '${left}'`,
  'approvals that wait': `${invite('places', 'NULL')}; ${waits(`'${left}'`)}`,
  'members who wait': `UPDATE members SET status = 'pending', approval_requested_at = now() WHERE user_id = ${student}`,
  'what a code gives': `${invite('places', '2')}; UPDATE invites SET scope = 'parent', role = 'parent', target_id = ${student}; ${waits(parent)};
    UPDATE parents SET status = 'pending'; UPDATE parent_students SET linked_at = now()`,
  'places of a code': `${invite('places', '1')}; ${waits(student)}; ${waits(other)}; UPDATE joins SET approval = NULL, joined_at = now()`,
  'codes of managers': invite('created_by', tutor),
  'codes that were read': `${invite('sealed, created_at', `'x', now() - interval '1 day'`)};
    UPDATE members SET role = 'admin' WHERE user_id = '${gone}'`,
  'one way in for each role': `DROP INDEX invites_standing; ${standing(ID)}; ${standing(ID.replace('0', '1'))}`,
  'address of an invite': invite('email, user_id', `'x@example.org', ${student}`),
  'students and parents': `INSERT INTO parents (organization_id, user_id) VALUES (${org}, ${student})`,
  'an owner stays': `UPDATE members SET status = 'archived', frozen_at = now() WHERE role = 'owner'`,
};

const query = (sql: string, values: unknown[] = []) => make.query<never>(sql, values);

it('a sound organization breaks none', async () => {
  expect(await brokenInvariants(query)).toEqual([]);
});

it.each(INVARIANT_NAMES)('%s: a row that breaks it is named', async (name) => {
  const runner = make.db.createQueryRunner();
  await runner.startTransaction();
  try {
    await runner.query(`SET LOCAL session_replication_role = replica; ${PLANTED[name]}`);
    const broken = await brokenInvariants((sql, values) => runner.query(sql, values) as Promise<never>, school, [name]);
    expect(broken).toEqual([{ name, organization_id: school, count: expect.any(Number) as number, ids: expect.any(Array) as string[] }]);
    expect(broken[0]!.ids[0]).toBeTruthy();
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
});
