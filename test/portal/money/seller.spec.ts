import { Vault } from '@app/config';
import { openEmail } from '@app/jobs';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

const joining = await JoinFixture.shared();
const { sql } = joining;
const { make } = joining.portal;
let pages: PeoplePages;
let settings: string;
const here = () => pages.provisioning.id;

beforeEach(async () => {
  pages = await PeoplePages.open(joining);
  settings = pages.base.replace('/people', '/settings/invoices');
});

const GIVEN = {
  legal_name: 'Wattle Lane Tutoring Pty Ltd',
  business_number_label: 'ABN',
  business_number: '51 824 753 556',
  payment_terms_days: '21',
  payment_instructions: 'BSB 000-000\nAccount 12345678',
  pay_url: 'https://pay.example.org/?i={invoice_number}&cents={amount_cents}',
  reply_address: 'office@wattle.example',
  tax_registered: 'yes',
  tax_label: 'GST',
  tax_rate: '12.5',
  line_tax: 'free',
};
const STORED = { ...GIVEN, payment_terms_days: 21, tax_registered: true, tax_rate: 1_250 };
const stored = async () => (await sql(`SELECT ${Object.keys(GIVEN).join(', ')} FROM organizations WHERE id = $1`, here()))[0];

describe('what invoices say of the seller', () => {
  it('is saved, shown again, audited by names, and told to all owners in full', async () => {
    const saved = await pages.owner.post(settings, GIVEN);
    expect([saved.status, saved.headers.location]).toEqual([303, settings]);
    expect(await stored()).toEqual(STORED);
    const { text } = await pages.owner.get(settings);
    for (const shown of ['value="12.5"', 'value="21"', 'Account 12345678</textarea>', 'value="yes" checked', 'value="free" checked'])
      expect(text).toContain(shown);
    await pages.owner.post(settings, GIVEN);
    await pages.owner.post(settings, { ...GIVEN, business_number: '53 004 085 616', tax_registered: '' });
    const audited = await pages.audited('change settings');
    expect(audited.map((one) => (one as { fields: string[] }).fields.length)).toEqual([10, 2]);
    const mails = await sql<{ payload: Buffer; gathered: Buffer[] | null }>(
      'SELECT payload, gathered FROM outbox WHERE organization_id = $1',
      here(),
    );
    const vault = joining.portal.app.get(Vault, { strict: false });
    const told = mails.flatMap(({ payload, gathered }) =>
      [payload, ...(gathered ?? [])].flatMap((one) => openEmail(vault, one).settings?.changes ?? []),
    );
    expect(told).toContainEqual({ name: 'Business number', before: '51 824 753 556', after: '53 004 085 616' });
    expect(told).toContainEqual({ name: 'How to pay', before: null, after: GIVEN.payment_instructions });
    expect(told).toContainEqual({ name: 'Tax rate in percent', before: '10', after: '12.5' });
  });

  it.each([
    ['legal_name', ['x'.repeat(201), 'one\ntwo']],
    ['business_number', ['x'.repeat(51), '']],
    ['payment_terms_days', ['', '-1', '366', '1.5', 'soon']],
    ['payment_instructions', ['x'.repeat(501)]],
    ['pay_url', ['http://pay.example.org', 'https://{invoice_number}.example.org', 'https://pay.example.org/{name}']],
    ['reply_address', ['nobody', 'a@b', 'x'.repeat(250) + '@example.org', 'one@example.org, two@example.org']],
    ['tax_label', ['', 'x'.repeat(21)]],
    ['tax_rate', ['', '101', '-1', '1.234', '1e1']],
    ['line_tax', ['', 'exempt']],
  ])('%s refuses what it cannot be, and saves nothing', async (field, values) => {
    const before = await stored();
    for (const value of values) {
      const answer = await pages.owner.post(settings, { ...GIVEN, [field]: value });
      expect([value, answer.status]).toEqual([value, 422]);
      expect(answer.text).toContain(GIVEN.tax_registered);
    }
    expect(await stored()).toEqual(before);
  });

  it('is not another organization’s to change', async () => {
    const stranger = await joining.portal.someone('owner');
    expect((await joining.portal.post(settings, GIVEN, stranger.cookie)).status).toBe(404);
  });
});

describe('who is billed', () => {
  const billing = (id: string, form: Record<string, string>) => pages.owner.post(`${pages.base}/${id}/billing`, form);
  const chosen = (id: string) => sql('SELECT parent_id FROM parent_students WHERE student_id = $1 AND pays', id);

  it('is chosen on the page of a student, with a name and an address', async () => {
    const child = await make.student(here());
    const [one, other] = [await make.parent(here(), { children: [child.id] }), await make.parent(here(), { children: [child.id] })];
    const { text } = await pages.owner.get(`${pages.base}/${child.id}`);
    for (const { id } of [one, other]) expect(text).toContain(`<option value="${id}"`);
    const form = { as: 'student', billed: other.id, billing_name: 'Büro Čapek', billing_address: '1 High Street\nCarlton' };
    expect((await billing(child.id, form)).status).toBe(303);
    expect(await chosen(child.id)).toEqual([{ parent_id: other.id }]);
    expect(await sql('SELECT billing_name, billing_address FROM members WHERE user_id = $1', child.id)).toEqual([
      { billing_name: form.billing_name, billing_address: form.billing_address },
    ]);
    expect((await pages.owner.get(`${pages.base}/${child.id}`)).text).toContain(`<option value="${other.id}" selected>`);
    await billing(child.id, { ...form, billed: 'self' });
    expect([await chosen(child.id), await sql('SELECT bills_self FROM members WHERE user_id = $1', child.id)]).toEqual([[], [{ bills_self: true }]]);
    await billing(child.id, { ...form, billed: 'auto' });
    expect(await sql('SELECT bills_self FROM members WHERE user_id = $1', child.id)).toEqual([{ bills_self: false }]);
    expect((await billing(child.id, { ...form, billing_address: 'x'.repeat(301) })).status).toBe(422);
    expect((await billing(child.id, { ...form, billed: 'somebody' })).status).toBe(400);
    const stranger = await make.parent(here(), { children: [(await make.student(here())).id] });
    expect((await billing(child.id, { ...form, billed: stranger.id })).status).toBe(404);
    expect(await chosen(child.id)).toEqual([]);
  });

  it('has a name and an address as a parent', async () => {
    const parent = await make.parent(here(), { children: [(await make.student(here())).id] });
    expect((await billing(parent.id, { as: 'parent', billing_name: 'A & B', billing_address: '' })).status).toBe(303);
    expect((await pages.owner.get(`${pages.base}/${parent.id}`)).text).toContain('value="A &amp; B"');
    expect((await billing((await make.tutor(here())).id, { as: 'parent' })).status).toBe(404);
  });

  it('is spared reminders, on the page of whoever pays', async () => {
    const child = await make.student(here());
    const parent = await make.parent(here(), { children: [child.id] });
    const page = (id: string) => `${pages.base}/${id}`;
    const spared = (table: string, id: string) => sql(`SELECT no_reminders AS spared FROM ${table} WHERE user_id = $1`, id);
    // Not of a student whose parent is billed.
    expect((await pages.owner.get(page(child.id))).text).not.toContain('Payment reminders');
    expect((await pages.owner.get(page(parent.id))).text).toContain('Send no reminders');
    const off = await pages.owner.follow(await pages.owner.post(`${page(parent.id)}/reminders`, { reminded: 'no' }));
    expect(off.text).toContain('is no longer reminded of invoices.');
    expect(off.text).toContain('Send reminders again');
    expect(await spared('parents', parent.id)).toEqual([{ spared: true }]);
    await pages.owner.post(`${page(parent.id)}/reminders`, { reminded: 'yes' });
    expect(await spared('parents', parent.id)).toEqual([{ spared: false }]);
    const alone = await make.student(here());
    await pages.owner.post(`${page(alone.id)}/reminders`, { reminded: 'no' });
    expect(await spared('members', alone.id)).toEqual([{ spared: true }]);
    const { text } = await pages.owner.get(pages.base.replace('/people', '/audit'));
    for (const words of ['Exempted ', 'Ended the exemption of ']) expect(text).toContain(words);
    for (const { id } of [await make.tutor(here()), { id: here() }])
      expect((await pages.owner.post(`${page(id)}/reminders`, { reminded: 'no' })).status).toBe(404);
  });
});

it('a line says whether it is free of tax, where tax is charged', async () => {
  const child = await make.student(here());
  const { id } = await make.invoice(here(), child.id, { status: 'draft', invoiceNumber: null, amountDueCents: 0 });
  const page = pages.base.replace('/people', `/money/invoices/${id}`);
  expect((await pages.owner.get(page)).text).not.toContain('name="tax"');
  await pages.owner.post(settings, GIVEN);
  const [, token] = /action="[^"]*add-line"[^>]*>\s*<input type="hidden" name="form_token" value="([^"]+)"/.exec((await pages.owner.get(page)).text)!;
  await pages.owner.post(`${page}/add-line`, { form_token: token!, description: 'Speech', quantity: '1', unit: '5', tax: 'free' });
  expect(await sql('SELECT tax FROM invoice_lines WHERE invoice_id = $1', id)).toEqual([{ tax: 'free' }]);
  expect((await pages.owner.get(page)).text).toContain('Free of tax</span>');
});

describe('the paper of an invoice', () => {
  it('is a link for managers, of somebody who was erased for owners alone', async () => {
    const child = await make.student(here());
    const issued = { invoiceNumber: 'INV-000001', status: 'open', amountDueCents: 100 } as const;
    const { id } = await make.invoice(here(), child.id, issued);
    const draft = await make.invoice(here(), child.id, { status: 'draft', invoiceNumber: null });
    const page = (invoice: string) => pages.base.replace('/people', `/money/invoices/${invoice}`);
    const organization = await make.find('organizations', here());
    const admin = await joining.portal.someone('admin', { organization });
    const leads = async (cookie: string, invoice = id) => {
      const { status, headers } = await joining.portal.get(`${page(invoice)}/pdf`, cookie);
      return [status, /\/papers\/[\w-]+$/.test(headers.location ?? '')];
    };
    const owner = (await joining.portal.someone('owner', { organization })).cookie;
    const both = async () => [await leads(owner), await leads(admin.cookie)];
    expect(await both()).toEqual([[303, true], [303, true]]); // prettier-ignore
    expect((await pages.owner.get(page(id))).text).toContain(`${page(id)}/pdf"`);
    expect((await pages.owner.get(page(draft.id))).text).not.toContain('/pdf"');
    expect((await leads(owner, draft.id))[1]).toBe(false);
    expect(await leads((await joining.portal.someone('owner')).cookie)).toEqual([404, false]);
    await sql('UPDATE invoices SET person_erased = true WHERE id = $1', id);
    expect(await both()).toEqual([[303, true], [404, false]]); // prettier-ignore
    expect((await joining.portal.get(page(id), admin.cookie)).text).not.toContain('/pdf"');
  });
});
