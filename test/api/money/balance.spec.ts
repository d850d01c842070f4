import { PeopleFixture } from '../../support/data/provisioning.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
let a: PeopleFixture;
let b: PeopleFixture;

beforeEach(async () => {
  [a, b] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
});

async function balance(parentId: string, key: string): Promise<unknown> {
  const answer = await api.get(`/v1/parents/${parentId}/balance`, key);
  expect(answer.status).toBe(200);
  return answer.body;
}

function sums(parent_id: string, invoiced: number, paid: number, outstanding: number, open: number): object {
  return {
    parent_id,
    total_invoiced_cents: invoiced,
    total_paid_cents: paid,
    outstanding_cents: outstanding,
    open_invoices_count: open,
    credit_cents: 0,
  };
}

describe('a parent’s balance', () => {
  it('sums open and paid invoices, with the unpaid part of open ones as outstanding', async () => {
    const child = await make.student(a.id);
    const parent = await make.parent(a.id, { children: [child.id] });
    await make.invoice(a.id, child.id, { status: 'open', amountDueCents: 10_000, amountPaidCents: 2_500 });
    await make.invoice(a.id, child.id, { status: 'open', amountDueCents: 300, amountPaidCents: 0 });
    await make.invoice(a.id, child.id, { status: 'paid', amountDueCents: 7_000, amountPaidCents: 6_900 });
    await make.invoice(a.id, child.id, { status: 'draft', amountDueCents: 50_000, amountPaidCents: 0 });
    await make.invoice(a.id, child.id, { status: 'void', amountDueCents: 60_000, amountPaidCents: 20 });
    expect(await balance(parent.id, a.key)).toEqual(sums(parent.id, 17_300, 9_400, 7_800, 2));
  });

  it('sums invoices of the parent’s children in this organization only', async () => {
    const [first, second, strange] = [await make.student(a.id), await make.student(a.id), await make.student(a.id)];
    const elsewhere = await make.student(b.id);
    const parent = await make.parent(a.id, { children: [first.id, second.id] });
    await make.parent(b.id, { user: parent, children: [elsewhere.id] });
    await make.invoice(a.id, first.id, { amountDueCents: 1 });
    await make.invoice(a.id, second.id, { amountDueCents: 20 });
    await make.invoice(a.id, strange.id, { amountDueCents: 300 });
    await make.invoice(b.id, elsewhere.id, { amountDueCents: 4_000 });
    expect(await balance(parent.id, a.key)).toEqual(sums(parent.id, 21, 0, 21, 2));
    expect(await balance(parent.id, b.key)).toEqual(sums(parent.id, 4_000, 0, 4_000, 1));
  });

  it('is exact for sums beyond 32 bits', async () => {
    const child = await make.student(a.id);
    const parent = await make.parent(a.id, { children: [child.id] });
    const most = 1_000_000_000_000;
    for (let n = 0; n < 5; n++) await make.invoice(a.id, child.id, { amountDueCents: most - n, amountPaidCents: 1 });
    expect(await balance(parent.id, a.key)).toEqual(sums(parent.id, 5 * most - 10, 5, 5 * most - 15, 5));
  });
});
