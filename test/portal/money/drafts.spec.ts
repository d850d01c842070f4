import { randomUUID } from 'node:crypto';
import { figures, moneyOffice } from '../../support/portal/money-office.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

const LINE = { description: 'Exam course', quantity: '2', unit: '150' };

async function room() {
  const office = await moneyOffice(portal);
  const drafts = () => make.query<{ id: string; due: number; collecting: boolean }>(
    `SELECT id, amount_due_cents::int AS due, collecting FROM invoices WHERE organization_id = $1 AND status = 'draft' ORDER BY created_at`,
    [office.organization.id],
  ); // prettier-ignore
  return { ...office, drafts, path: `/families/${office.child.id}/draft` };
}

describe('drafting an invoice', () => {
  it('makes a draft of the lines that are filled in, beside the one that lessons are added to, and leads to it', async () => {
    const { path, post, look, drafts, base, child, organization, told } = await room();
    const rows = { ...LINE, 'description-3': 'Sibling discount', 'quantity-3': '', 'unit-3': '-20', 'quantity-2': '7' };
    const { headers } = await post(path, rows).expect(303);
    const [draft] = await drafts();
    expect(headers.location).toBe(`${base}/invoices/${draft!.id}`);
    expect(draft).toMatchObject({ due: 28_000, collecting: false });
    const text = await look(`/invoices/${draft!.id}`);
    expect(figures(text)).toEqual({ Student: 'Ada Byron', Amount: '$280.00' });
    expect(text).toContain('$150.00');
    expect((await portal.audited(organization.id)).map(({ operation, details }) => [operation, details])).toEqual([
      ['POST /v1/invoices', { invoice_id: draft!.id }],
    ]);
    expect(text).toContain('Created an invoice');
    expect(await told(`/invoices/${draft!.id}/finalize`)).toEqual(['success', 'The invoice was issued.']);
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [child.id]);
    await post(path, LINE).expect(303);
    expect(await drafts()).toHaveLength(1);
  });

  it('takes a form that is sent twice, even at once, as one', async () => {
    const { path, post, told, drafts } = await room();
    const form = { ...LINE, form_token: randomUUID() };
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(path, form)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    expect((await told(path, form))[0]).toBe('notice');
    expect(await drafts()).toHaveLength(1);
  });

  it('says at each field what is wrong, keeps what was typed, and lets the corrected form through', async () => {
    const { path, post, refused, drafts } = await room();
    expect(Object.keys(await refused(path))).toEqual(['field-description', 'field-unit']);
    expect(await refused(path, { ...LINE, 'description-2': 'Book', 'quantity-2': '0', 'unit-2': '1.234' })).toEqual({
      'field-quantity-2': 'Enter a number up to 1,000.',
      'field-unit-2': 'Enter an amount such as 12.50, or -12.50 for a discount.',
    });
    expect(Object.keys(await refused(path, { 'unit-3': '5' }))).toEqual(['field-description-3']);
    expect(await drafts()).toEqual([]);
    const form = { ...LINE, unit: '1e3', form_token: randomUUID() };
    const { text } = await post(path, form).expect(422);
    for (const kept of [form.form_token, 'value="1e3"', 'value="Exam course"', 'name="quantity" type="text" value="2"']) expect(text).toContain(kept);
    await post(path, { ...form, unit: '1000' }).expect(303);
    expect((await drafts()).map(({ due }) => due)).toEqual([200_000]);
    // Each line is possible, and all of them are too much.
    const most = { quantity: '1000', unit: '10000000' };
    const sum = {
      ...most,
      description: 'x',
      ...Object.fromEntries(Object.entries({ ...most, description: 'x' }).map(([key, value]) => [`${key}-2`, value])),
    };
    expect((await post(path, sum).expect(422)).text).toContain('The invoice would come to more than');
  });

  it('is for students, found by parts of their names, also those who have left', async () => {
    const { look, post, base, owner, organization, child, parent } = await room();
    for (const id of [parent.id, owner.user.id]) {
      await portal.get(`${base}/families/${id}/draft`, owner.cookie).expect(404);
      await post(`/families/${id}/draft`, LINE).expect(404);
    }
    const found = async (name: string) => [...(await look(`/draft?name=${name}`)).matchAll(/<strong>([^<]+)<\/strong>/g)].map(([, one]) => one);
    expect(await found('byr+BEN')).toEqual(['Ben Byron']);
    expect(await found('byron')).toEqual(['Ben Byron', 'Ada Byron']);
    expect(await found('lee')).toEqual([]);
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [child.id]);
    expect(await look('/draft?name=ada')).toContain('Has left');
    for (let more = 0; more < 25; more++) await make.student(organization.id);
    const all = await portal.walk(`${base}/draft`, owner.cookie, 'Next page<');
    expect(all.match(/\/draft"><strong>/g)).toHaveLength(27);
    expect(await look(`/families/${child.id}`)).toContain(`href="${base}/families/${child.id}/draft"`);
    expect(await look(`/families/${parent.id}`)).not.toContain('Draft an invoice');
  });
});
