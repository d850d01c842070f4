import { randomUUID } from 'node:crypto';
import { figures, moneyOffice } from '../../support/portal/money-office.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

type Room = Awaited<ReturnType<typeof moneyOffice>>;

/** Drafts, each of a student of their own, with a line of so many dollars. */
async function drafts(room: Room, units: number[]): Promise<string[]> {
  const ids: string[] = [];
  for (const unit of units) {
    const student = await make.student(room.organization.id, { user: { firstName: `Child ${unit}`, lastName: 'Byron' } });
    const { id } = await room.draft(student.id);
    await room.post(`/invoices/${id}/add-line`, { description: 'Lesson', unit: String(unit) }).expect(303);
    ids.push(id);
  }
  return ids;
}

/** The form of the confirmation, as a browser sends it. */
async function formOf(room: Room) {
  const html = await room.look('/drafts/issue');
  const value = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)![1]!;
  return { html, form: { form_token: value('form_token'), drafts: value('drafts') } };
}

const states = (room: Room) =>
  make.query<{ id: string; status: string; number: string | null }>(
    `SELECT id, status, invoice_number AS number FROM invoices WHERE organization_id = $1 ORDER BY created_at, id`,
    [room.organization.id],
  );
const finalized = async (room: Room) =>
  (await portal.audited(room.organization.id)).filter(({ operation }) => operation === 'POST /v1/invoices/:invoice_id/finalize');
const results = (html: string) =>
  [...html.matchAll(/<th scope="row"><a href="[^"]*\/invoices\/([^"]+)">([^<]+)<\/a>.*?<span class="chip (good|bad)">[^<]+<\/span>([^<]*)/g)].map(
    ([, id, name, tone, why]) => [id, name, tone, why!.trim()],
  );

it('all drafts are issued by one confirmation that names their count and sum, each with an audit row, however often and at once it is sent', async () => {
  const room = await moneyOffice(portal);
  const ids = await drafts(room, [10, 20.5, 30, 40, 50]);
  const empty = await room.draft();
  const { html, form } = await formOf(room);
  expect(html).toContain('Issue 5 invoices, $150.50 in all');
  const answers = await Promise.all([1, 2, 3, 4].map(() => room.post('/drafts/issue', form)));
  for (const { status, text } of answers.filter(({ status }) => status !== 303)) {
    expect([status, results(text).map(([id, , tone]) => [id, tone])]).toEqual([200, ids.map((id) => [id, 'good'])]);
    expect(text).toContain('5 invoices issued, $150.50');
  }
  const rows = await states(room);
  expect(
    rows
      .filter(({ status }) => status === 'open')
      .map(({ number }) => number)
      .sort(),
  ).toEqual([1, 2, 3, 4, 5].map((n) => `INV-00000${n}`));
  expect(rows.filter(({ status }) => status === 'draft').map(({ id }) => id)).toEqual([empty.id]);
  expect((await finalized(room)).map(({ details }) => (details as { invoice_id: string }).invoice_id).sort()).toEqual([...ids].sort());
  // Again, and by another form: nothing is issued twice.
  expect((await room.post('/drafts/issue', form)).status).toBe(303);
  const other = await room.post('/drafts/issue', { ...form, form_token: randomUUID() }).expect(200);
  expect(results(other.text).map(([, , tone]) => tone)).toEqual(ids.map(() => 'good'));
  expect((await states(room)).filter(({ status }) => status === 'open')).toHaveLength(5);
  expect(await room.look('/drafts/issue')).toContain('No drafts are ready');
});

it('one that is refused keeps no other back, and is issued by the same form once it can be', async () => {
  const room = await moneyOffice(portal);
  const [first, second, third] = (await drafts(room, [10, 20, 30])) as [string, string, string];
  const { form } = await formOf(room);
  // Somebody adds a line, and deletes another draft, after the page was shown.
  await room.post(`/invoices/${second}/add-line`, { description: 'Book', unit: '5' }).expect(303);
  await make.query('DELETE FROM invoice_lines WHERE invoice_id = $1', [third]);
  const { text } = await room.post('/drafts/issue', form).expect(200);
  expect(results(text)).toEqual([
    [first, 'INV-000001', 'good', ''],
    [second, 'Draft', 'bad', 'The draft has changed since: look at it again.'],
    [third, 'Draft', 'bad', 'The invoice has no lines yet: add some first.'],
  ]);
  expect(text).toContain('1 invoice issued, $10.00');
  const anew = await formOf(room);
  expect(anew.form.drafts).toContain(`${second}:2500`);
  await room.post('/drafts/issue', anew.form).expect(200);
  expect(await room.invoice(second)).toMatchObject({ status: 'open', amountDueCents: 2_500 });
});

it('with email, a draft that nobody would get is not issued', async () => {
  const room = await moneyOffice(portal);
  const { id } = await room.draft();
  await room.post(`/invoices/${id}/add-line`, { description: 'Lesson', unit: '60' }).expect(303);
  const [nobody] = (await drafts(room, [10])) as [string];
  await make.query(`UPDATE users SET email = 'x@example.invalid' WHERE id = (SELECT student_id FROM invoices WHERE id = $1)`, [nobody]);
  await make.parent(room.organization.id, { children: [(await room.invoice(nobody)).studentId] });
  await make.parent(room.organization.id, { children: [(await room.invoice(nobody)).studentId] });
  const { html, form } = await formOf(room);
  expect(html).toContain('1 draft has nobody to email');
  const { text } = await room.post('/drafts/issue', { ...form, send: 'yes' }).expect(200);
  expect(text).toContain('Emailed to');
  expect((await room.invoice(id)).status).toBe('open');
  expect((await room.invoice(nobody)).status).toBe('draft');
  expect(await make.query(`SELECT kind FROM outbox WHERE organization_id = $1 AND about_id IS NOT NULL`, [room.organization.id])).toEqual([
    { kind: 'invoice' },
  ]);
});

it('a form that names no drafts, too many or anything else is refused', async () => {
  const room = await moneyOffice(portal);
  const one = () => `${randomUUID()}:1`;
  const same = one();
  for (const sent of ['', 'x', randomUUID(), `${randomUUID()}:-1`, `${same} ${same}`, Array.from({ length: 101 }, one).join(' '), 'x'.repeat(9_000)])
    expect([sent.slice(0, 50), (await room.post('/drafts/issue', { drafts: sent })).status]).toEqual([sent.slice(0, 50), 400]);
  // Of another organization, or of none.
  const other = await moneyOffice(portal);
  const [foreign] = (await drafts(other, [10])) as [string];
  const { text } = await room.post('/drafts/issue', { drafts: `${foreign}:1000 ${one()}` }).expect(200);
  expect(text).toContain('0 invoices issued');
  expect((await room.invoice(foreign)).status).toBe('draft');
});

it('a line is changed in its place, and keeps its lesson, so that the lesson can be reopened', async () => {
  const room = await moneyOffice(portal);
  const tutor = await make.tutor(room.organization.id);
  const at = new Date(Date.now() - 7_200_000);
  const { id: lesson } = await make.session(room.organization.id, {
    tutorId: tutor.id,
    status: 'scheduled',
    startsAt: at,
    endsAt: new Date(+at + 3_600_000),
  });
  await make.participant(room.organization.id, lesson, room.child.id, { status: 'accepted', rateCents: 6_000 });
  await room.post(`/o/${room.organization.slug}/lessons/${lesson}/complete`, { [`attendance-${room.child.id}`]: 'attended' }).expect(303);
  const [draft] = await make.query<{ id: string }>(`SELECT id FROM invoices WHERE student_id = $1 AND collecting`, [room.child.id]);
  const { id } = draft!;
  await room.post(`/invoices/${id}/add-line`, { description: 'Book', unit: '5' }).expect(303);
  const lines = () =>
    make.query<{ id: string; description: string; amount: number; item_type: string; session_id: string | null }>(
      `SELECT id, description, amount_cents::int AS amount, item_type, session_id FROM invoice_lines WHERE invoice_id = $1 ORDER BY position`,
      [id],
    );
  const [first, second] = await lines();
  const page = await room.look(`/lines/${first!.id}`);
  expect(page).toContain('value="60.00"');
  expect(await room.told(`/lines/${first!.id}`, { description: 'Half a lesson', quantity: '1', unit: '30' })).toEqual([
    'success',
    'The line was changed.',
  ]);
  await room.post(`/lines/${second!.id}`, { description: 'Discount', quantity: '2', unit: '-5' }).expect(303);
  expect(await lines()).toEqual([
    { id: first!.id, description: 'Half a lesson', amount: 3_000, item_type: first!.item_type, session_id: lesson },
    { id: second!.id, description: 'Discount', amount: -1_000, item_type: 'discount', session_id: null },
  ]);
  expect(figures(await room.look(`/invoices/${id}`)).Amount).toBe('$20.00');
  expect(await room.refused(`/lines/${first!.id}`, { description: '', unit: 'x' })).toEqual({
    'field-description': 'Say what it is for, in up to 500 characters.',
    'field-unit': 'Enter an amount such as 12.50, or -12.50 for a discount.',
  });
  const rows = (await portal.audited(room.organization.id)).filter(({ operation }) => operation === 'change line');
  expect(rows.map(({ details }) => details)).toEqual([first, second].map((line) => ({ invoice_id: id, line_id: line!.id })));
  await room.post(`/o/${room.organization.slug}/lessons/${lesson}/reopen`).expect(303);
  expect((await lines()).map(({ description }) => description)).toEqual(['Discount']);
  // What has been issued stays as it is.
  await room.post(`/lines/${second!.id}`, { description: 'Book', quantity: '1', unit: '5' }).expect(303);
  await room.post(`/invoices/${id}/finalize`).expect(303);
  await room.post(`/lines/${second!.id}`, { description: 'x', unit: '1' }).expect(404);
});
