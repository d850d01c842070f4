import { randomUUID } from 'node:crypto';
import { Papers } from '@app/papers';
import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

/** Two separated parents of one child, a parent of another, a student, and another organization. */

const portal = await fixture(TestPortal.start());
const { make } = portal;
const papers = portal.app.get(Papers);

const snapshot = (name: string, address: string) => ({
  issued_on: '2026-01-05',
  seller: { name: 'Wattle Lane', legal_name: null, address: null, phone: null, business_number_label: null, business_number: null, payment_instructions: 'Old', pay_url: null },
  tax: { registered: false, label: 'GST', rate: 1_000 },
  buyer: { student_name: 'Tim Byron', name, address },
}); // prettier-ignore

async function school() {
  const organization = await make.organization({
    currency: 'AUD',
    paymentInstructions: 'BSB 012-345, account 6789',
    payUrl: 'https://pay.example.org/{invoice_number}?cents={amount_cents}',
  });
  const at = organization.id;
  const person = (firstName: string, lastName: string) => ({ user: { firstName, lastName }, status: 'accepted' as const });
  const [child, sibling, other] = [
    await make.student(at, person('Tim', 'Byron')), await make.student(at, person('Ida', 'Byron')), await make.student(at, person('Otto', 'Foreign')),
  ]; // prettier-ignore
  const mother = await make.parent(at, { ...person('Motherly', 'Byron'), children: [child.id, sibling.id] });
  const father = await make.parent(at, { ...person('Fatherly', 'Lovelace'), children: [child.id] });
  const stranger = await make.parent(at, { ...person('Stranger', 'Foreign'), children: [other.id] });
  await make.query('UPDATE parent_students SET pays = true WHERE organization_id = $1 AND parent_id = $2 AND student_id = $3', [
    at,
    mother.id,
    child.id,
  ]);
  const invoice = async (student: string, number: number, wish: object, billed: { id: string } | null, to: [string, string]) => {
    const issued = billed ? { billedParentId: billed.id, snapshot: snapshot(...to), taxCents: 0 } : {};
    const { id } = await make.invoice(at, student, {
      invoiceNumber: `INV-00000${number}`,
      status: 'open',
      dueDate: '2026-02-01',
      ...issued,
      ...wish,
    });
    await make.invoiceLine(at, id, { description: 'A secret line' });
    return id;
  };
  const ofMother = await invoice(child.id, 1, { amountDueCents: 5_000, amountPaidCents: 1_000 }, mother, ['Motherly Byron', '1 Hidden Street']);
  const ofFather = await invoice(child.id, 2, { amountDueCents: 7_777, amountPaidCents: 777 }, father, ['Fatherly Lovelace', '2 Buried Road']);
  const ofSibling = await invoice(sibling.id, 3, { status: 'void', amountDueCents: 900 }, mother, ['Motherly Byron', '1 Hidden Street']);
  const foreign = await invoice(other.id, 4, { amountDueCents: 4_444 }, stranger, ['Stranger Foreign', '4 Far Lane']);
  const imported = await invoice(child.id, 5, { amountDueCents: 300, dueDate: null }, null, ['', '']);
  const draft = await make.invoice(at, child.id, { invoiceNumber: null, status: 'draft', amountDueCents: 6_666 });
  const paid = (parentId: string, amountCents: number, reference: string, more = {}) =>
    make.payment(at, { parentId, amountCents, reference, recorded: true, paymentType: 'bank_transfer', receivedOn: '2026-01-20', ...more });
  const [fromMother, fromFather] = [await paid(mother.id, 1_000, 'ref-mother', { creditCents: 250 }), await paid(father.id, 777, 'ref-father')];
  return {
    organization,
    at,
    child,
    sibling,
    other,
    mother,
    father,
    stranger,
    ids: { ofMother, ofFather, ofSibling, foreign, imported, draft: draft.id },
    fromMother,
    fromFather,
  };
}

let at: Awaited<ReturnType<typeof school>>;
let elsewhere: typeof at;
beforeAll(async () => {
  [at, elsewhere] = [await school(), await school()];
});

const cookies = new Map<string, string>();
async function as({ id }: { id: string }) {
  if (!cookies.has(id)) cookies.set(id, await portal.session(id));
  const cookie = cookies.get(id)!;
  return {
    cookie,
    get: (path: string, { organization } = at) => portal.get(`/my/${organization.slug}${path}`, cookie),
    post: (path: string, fields: Record<string, string>) =>
      portal.post(`/my/${at.organization.slug}${path}`, { form_token: randomUUID(), ...fields }, cookie),
  };
}

/** The rows of the table of invoices, by number. */
const rowsOf = (html: string) =>
  new Map([...html.matchAll(/<tr><th scope="row"><strong>(INV-\d+)<\/strong>(.*?)<\/tr>/gs)].map(([, number, rest]) => [number!, rest!]));

describe('invoices', () => {
  it('show whoever was billed what is paid and due, with the paper and how to pay', async () => {
    const { text } = await (await as(at.mother)).get('/invoices').expect(200);
    const rows = rowsOf(text);
    expect([...rows.keys()].sort()).toEqual(['INV-000001', 'INV-000002', 'INV-000003', 'INV-000005']);
    expect(rows.get('INV-000001')).toMatch(/Overdue.*Tim.*\$50\.00.*\$40\.00.*\/pdf"/s);
    expect(rows.get('INV-000001')).toContain('href="https://pay.example.org/INV-000001?cents=4000"');
    expect(rows.get('INV-000003')).toMatch(/Void.*Ida.*\$9\.00/s);
    // What was imported is of whoever pays now.
    expect(rows.get('INV-000005')).toMatch(/To pay.*\$3\.00.*\/pdf"/s);
    expect(text).toMatch(/To pay<\/dt><dd><strong>\$43\.00/);
    expect(text).toMatch(/Overdue<\/dt><dd>\$40\.00/);
    expect(text).toMatch(/Credit<\/dt><dd>\$2\.50/);
    expect(text).toContain('BSB 012-345');
    expect(text).toContain(`/payments/${at.fromMother.id}/receipt`);
  });

  it('show another linked parent number, sum and state: no name, address, payment or paper of whoever pays', async () => {
    for (const [reader, foreignRow, hidden] of [
      [at.mother, 'INV-000002', [/Fatherly|Lovelace|Buried|ref-father/, /\$7\.77|\$70\.00/]],
      [at.father, 'INV-000001', [/Motherly|Hidden|ref-mother|Ida/, /\$10\.00|\$40\.00|2\.50/]],
    ] as const) {
      const { text } = await (await as(reader)).get('/invoices').expect(200);
      const row = rowsOf(text).get(foreignRow)!;
      expect(row).toMatch(/Open.*Tim.*\$(50\.00|77\.77)/s);
      expect(row).not.toMatch(/\/pdf|Pay at|2026/);
      for (const words of hidden) expect(text).not.toMatch(words);
      expect(text).not.toMatch(/A secret line|66\.66|44\.44|Foreign|Otto/);
    }
    const father = (await (await as(at.father)).get('/invoices')).text;
    expect([...rowsOf(father).keys()].sort()).toEqual(['INV-000001', 'INV-000002', 'INV-000005']);
    expect(father).toMatch(/To pay<\/dt><dd><strong>\$70\.00/);
  });

  it('of a family show nothing to other families, students, tutors and other organizations', async () => {
    const { text } = await (await as(at.stranger)).get('/invoices').expect(200);
    expect([...rowsOf(text).keys()]).toEqual(['INV-000004']);
    expect(text).not.toMatch(/Byron|Tim|Ida|Fatherly/);
    const tutor = await make.tutor(at.at, { status: 'accepted' });
    for (const one of [at.child, tutor]) {
      const pages = await as(one);
      expect((await pages.get('/invoices')).status).toBe(403);
      expect((await pages.get(`/invoices/${at.ids.ofMother}/pdf`)).status).toBe(403);
    }
    expect((await (await as(elsewhere.mother)).get('/invoices')).status).toBe(404);
  });

  it('that were billed before a link ended are gone with it, as are their papers', async () => {
    const one = await school();
    const mother = await as(one.mother);
    const link = async () => (await mother.get(`/invoices/${one.ids.ofMother}/pdf`, one)).headers.location!.replace(/^.*\/papers\//, '');
    const opened = await link();
    expect(await papers.open(opened)).toMatchObject({ name: 'INV-000001.pdf' });
    await make.query('DELETE FROM parent_students WHERE organization_id = $1 AND parent_id = $2 AND student_id = $3', [
      one.at,
      one.mother.id,
      one.child.id,
    ]);
    expect(await papers.open(opened)).toBeNull();
    expect((await mother.get(`/invoices/${one.ids.ofMother}/pdf`, one)).status).toBe(404);
    expect([...rowsOf((await mother.get('/invoices', one)).text).keys()]).toEqual(['INV-000003']);
  });
});

describe('papers', () => {
  it('are of whoever was billed, and whoever paid, alone', async () => {
    const { ofMother, ofFather, ofSibling, foreign, imported, draft } = at.ids;
    const status = async (who: { id: string }, path: string) => (await (await as(who)).get(path)).status;
    const seen: Record<string, [{ id: string }, number[]]> = {
      mother: [at.mother, [303, 404, 303, 404, 303, 404]],
      father: [at.father, [404, 303, 404, 404, 404, 404]],
      stranger: [at.stranger, [404, 404, 404, 303, 404, 404]],
    };
    for (const [name, [who, expected]] of Object.entries(seen)) {
      const found = [];
      for (const id of [ofMother, ofFather, ofSibling, foreign, imported, draft]) found.push(await status(who, `/invoices/${id}/pdf`));
      expect([name, found]).toEqual([name, expected]);
    }
    for (const [who, id, expected] of [
      [at.mother, at.fromMother.id, 303], [at.mother, at.fromFather.id, 404], [at.father, at.fromFather.id, 303],
      [at.father, at.fromMother.id, 404], [at.stranger, at.fromFather.id, 404], [at.mother, elsewhere.fromMother.id, 404],
    ] as const) expect([id, await status(who, `/payments/${id}/receipt`)]).toEqual([id, expected]); // prettier-ignore
  });

  it('open for the parent while they belong, and for nobody after', async () => {
    const one = await school();
    const { headers } = await (await as(one.father)).get(`/payments/${one.fromFather.id}/receipt`, one);
    const link = headers.location!.replace(/^.*\/papers\//, '');
    expect(await papers.open(link)).toMatchObject({ name: 'Receipt 2026-01-20.pdf' });
    await make.query(`UPDATE parents SET status = 'archived' WHERE user_id = $1`, [one.father.id]);
    expect(await papers.open(link)).toBeNull();
  });
});

describe('a message to the organization', () => {
  it('is in its inbox with the name of its writer, once', async () => {
    const mother = await as(at.mother);
    const form = { form_token: randomUUID(), message: 'Is there a lesson in the holidays?' };
    for (let time = 1; time <= 2; time++) await mother.post('/write', form).expect(303);
    const written = await make.query('SELECT from_user_id, session_id, message FROM inbox_messages WHERE organization_id = $1', [at.at]);
    expect(written).toEqual([{ from_user_id: at.mother.id, session_id: null, message: form.message }]);
    for (const message of ['', ' ', 'x'.repeat(5_001)]) expect((await mother.post('/write', { message })).status).toBe(422);
  });

  it('is written by families of the organization alone, and not without end', async () => {
    const tutor = await make.tutor(at.at, { status: 'accepted' });
    expect((await (await as(tutor)).post('/write', { message: 'x' })).status).toBe(403);
    expect((await (await as(elsewhere.mother)).post('/write', { message: 'x' })).status).toBe(404);
    const father = await as(at.father);
    for (let time = 1; time <= 20; time++) await father.post('/write', { message: `Message ${time}` }).expect(303);
    expect((await father.post('/write', { message: 'One more' })).status).toBe(429);
  });
});
