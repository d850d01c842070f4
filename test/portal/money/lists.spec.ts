import { randomUUID } from 'node:crypto';
import { Random } from '../../support/data/random.js';
import { moneyOffice } from '../../support/portal/money-office.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

type Room = Awaited<ReturnType<typeof moneyOffice>>;

const text = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
const dollars = (cents: number) => new Intl.NumberFormat('en-AU', { style: 'currency', currency: 'AUD' }).format(cents / 100);

/** The figures at the top: label, sum, count and where each leads. */
const totalsIn = (html: string) =>
  [...html.matchAll(/<a class="tile" href="([^"]+)"><span[^>]*>([^<]+)<\/span><strong>([^<]+)<\/strong><span[^>]*>([^<]+)/g)].map(
    ([, to, label, sum, count]) => ({ to: to!, label: label!, sum: sum!, count: count! }),
  );

/** The rows of a table, each by the names of its columns. */
function tableIn(html: string): Record<string, string>[] {
  const [head = '', body = ''] = /<thead>(.*?)<\/thead>\s*<tbody>(.*?)<\/tbody>/s.exec(html)?.slice(1) ?? [];
  const names = [...head.matchAll(/<th[^>]*>(.*?)<\/th>/gs)].map(([, name]) => text(name!));
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
    Object.fromEntries([...row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell], at) => [names[at]!, text(cell!)])),
  );
}

const centsIn = (sum: string) => Math.round(Number(sum.replaceAll(/[$,]/g, '')) * 100);

/** All rows of a list, page by page. */
async function all(room: Room, path: string): Promise<Record<string, string>[]> {
  const rows: Record<string, string>[] = [];
  for (let at: string | undefined = path; at !== undefined;) {
    const html: string = await room.look(at);
    rows.push(...tableIn(html));
    at = /href="[^"]*\/money([^"]*)">Next page</.exec(html)?.[1]?.replaceAll('&amp;', '&');
  }
  return rows;
}

/** Invoices and payments of all kinds, by chance. */
async function history(room: Room, seed: number): Promise<void> {
  const random = new Random(seed);
  const { organization, child, sibling } = room;
  const students = [child, sibling, await make.student(organization.id)];
  for (let n = 0; n < 60; n++) {
    const status = random.pick(['draft', 'open', 'open', 'paid', 'void', 'uncollectible'] as const);
    const due = 1 + random.integer(300_000_000);
    const paid = status === 'paid' ? due : status === 'open' || status === 'uncollectible' ? random.integer(due) : 0;
    await make.invoice(organization.id, random.pick(students).id, {
      ...{ status, amountDueCents: status === 'draft' && n % 3 === 0 ? 0 : due, amountPaidCents: paid },
      invoiceNumber: status === 'draft' ? null : `INV-${String(n).padStart(6, '0')}`,
      dueDate: random.pick(['2020-01-31', '2199-01-31', null]),
    });
  }
  for (let n = 0; n < 40; n++) {
    const amountCents = 100 + random.integer(1_000_000);
    await make.payment(organization.id, {
      studentId: random.pick(students).id,
      ...{ amountCents, status: random.pick(['succeeded', 'refunded', 'failed', 'canceled', 'pending'] as const) },
      refundAmountCents: random.pick([null, 1 + random.integer(99)]),
      createdAt: new Date(Date.now() - random.integer(90) * 86_400_000),
    });
  }
}

it.each([1, 2, 3])('each total is the sum of the database, and of the list that it leads to (%i)', async (seed) => {
  const room = await moneyOffice(portal);
  await history(room, seed);
  const [truth] = await make.query<Record<string, number | null>>(
    `WITH o AS (SELECT $1::uuid AS id, (now() AT TIME ZONE 'Australia/Melbourne')::date AS today),
      i AS (SELECT status, amount_due_cents - amount_paid_cents AS cents, due_date < o.today AS late FROM invoices, o WHERE organization_id = o.id),
      p AS (SELECT amount_cents - coalesce(refund_amount_cents, 0) AS cents FROM payments, o WHERE organization_id = o.id
        AND status IN ('succeeded', 'refunded')
        AND coalesce(received_on, (created_at AT TIME ZONE 'Australia/Melbourne')::date) >= date_trunc('month', o.today))
    SELECT (SELECT sum(cents)::float8 FROM i WHERE status = 'open') AS "Outstanding",
      (SELECT sum(cents)::float8 FROM i WHERE status = 'open' AND late) AS "Overdue",
      (SELECT sum(cents)::float8 FROM i WHERE status = 'draft' AND cents > 0) AS "Drafts ready",
      (SELECT sum(cents)::float8 FROM p) AS "Received this month"`,
    [room.organization.id],
  );
  const totals = totalsIn(await room.look(''));
  expect(Object.fromEntries(totals.map(({ label, sum }) => [label, sum]))).toEqual(
    Object.fromEntries(Object.entries(truth!).map(([label, cents]) => [label, dollars(cents ?? 0)])),
  );
  for (const { label, to, sum, count } of totals) {
    const rows = await all(room, to.replace(room.base, ''));
    const listed = rows.map((row) => centsIn((label.startsWith('Drafts') ? row.Amount : row.Left) || row.Amount!) - centsIn(row.Refunded || '0'));
    const counted = listed.filter((cents) => cents > 0);
    expect([label, dollars(counted.reduce((total, cents) => total + cents, 0)), counted.length]).toEqual([label, sum, Number.parseInt(count)]);
  }
});

it('families are found by the name of a student or a parent, and invoices by either or by their number', async () => {
  const room = await moneyOffice(portal);
  const other = await make.student(room.organization.id, { user: { firstName: 'Ngata', lastName: 'Doyle' } });
  await room.issued('10');
  await room.issued('20', '2199-01-31', room.sibling.id);
  await room.issued('30', '2199-01-31', other.id);
  const found = async (q: string) => (await all(room, `?search=${q}`)).map((row) => row.Invoice!.split(' ')[0]).sort();
  expect(await found('byron')).toEqual(['INV-000001', 'INV-000002']);
  expect(await found('ben+BYR')).toEqual(['INV-000002']);
  expect(await found('ann+lee')).toEqual(['INV-000001', 'INV-000002']);
  expect(await found('3')).toEqual(['INV-000003']);
  expect(await found('nobody')).toEqual([]);
  expect(await found('doyle&state=paid')).toEqual([]);
  const family = async (q: string) => (await all(room, `/families${q}`)).map(({ Family, Students, Owes }) => [Family, Students, Owes]);
  const lee = ['Ann Lee', expect.stringMatching(/^(Ada Byron, Ben Byron|Ben Byron, Ada Byron)$/), '$30.00'];
  expect(await family('')).toEqual(expect.arrayContaining([lee, ['Ngata Doyle', '', '$30.00']]));
  expect(await family('?search=ada')).toEqual([['Ann Lee', 'Ada Byron', '$10.00']]);
  expect(await family('?search=ngata')).toEqual([['Ngata Doyle', '', '$30.00']]);
  for (const odd of ['?page=x', '?page=-1', '?page=1e9', '?search=%00', `?search=${'x'.repeat(300)}`, '?search=a&from=x', '?search[]=a'])
    expect([odd, (await portal.get(`${room.base}/families${odd}`, room.owner.cookie)).status]).toEqual([odd, 200]);
});

it('what families owe adds up to what is outstanding, those who owe most first', async () => {
  const room = await moneyOffice(portal);
  await history(room, 4);
  for (let n = 0; n < 30; n++)
    await make.invoice(room.organization.id, (await make.student(room.organization.id)).id, {
      ...{ status: 'open', amountDueCents: 1_000 + n, amountPaidCents: 0, invoiceNumber: randomUUID() },
    });
  const owed = (await all(room, '/families')).map(({ Owes }) => centsIn(Owes!));
  expect(owed.length).toBeGreaterThan(30);
  expect(owed).toEqual(owed.toSorted((one, other) => other - one));
  const [outstanding] = totalsIn(await room.look(''));
  expect(dollars(owed.reduce((sum, cents) => sum + cents, 0))).toBe(outstanding!.sum);
});
