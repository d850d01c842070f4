import { Random } from '../../support/data/random.js';
import { moneyOffice } from '../../support/portal/money-office.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

const ZONE = 'Australia/Melbourne';
const YEAR = 'from=2025-07&to=2026-06';

type Room = Awaited<ReturnType<typeof moneyOffice>>;

const plain = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** The rows of the report's table. */
const tableIn = (html: string) =>
  [.../<tbody>(.*?)<\/tbody>/s.exec(html)![1]!.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => plain(cell!)),
  );

async function file(room: Room, by: string): Promise<Record<string, string>[]> {
  const { text } = await portal.get(`${room.base}/reports/download?by=${by}&${YEAR}`, room.owner.cookie).expect(200);
  const [head, ...rows] = text.trim().replace(/^\uFEFF/, '').split('\r\n').map((line) => line.split(',')); // prettier-ignore
  return rows.map((row) => Object.fromEntries(head!.map((name, at) => [name, row[at]!])));
}

/** Lessons, invoices and payments of two years around the one of the report, by chance. */
async function history(room: Room, seed: number) {
  const random = new Random(seed);
  const { organization, child } = room;
  const day = () => new Date(Date.UTC(2025, 0, 1) + random.integer(730 * 24 * 60) * 60_000);
  const tutors = [await make.tutor(organization.id), await make.tutor(organization.id)];
  const subjects = [
    (await make.subject(organization.id, { name: 'Chemistry' })).id,
    (await make.subject(organization.id, { name: 'Algebra' })).id,
    null,
  ];
  for (let n = 0; n < 80; n++) {
    const startsAt = day();
    const minutes = random.pick([30, 45, 60, 90]);
    await make.session(organization.id, {
      ...{
        tutorId: random.pick(tutors).id,
        subjectId: random.pick(subjects),
        status: random.pick(['completed', 'completed', 'cancelled', 'scheduled'] as const),
      },
      ...{ startsAt, endsAt: new Date(+startsAt + minutes * 60_000), durationMinutes: minutes, overlapAllowed: true },
      ...{ amountOwedCents: random.integer(10_000), tutorPayCents: random.integer(6_000) },
    });
    const at = day();
    const status = random.pick(['draft', 'open', 'paid', 'void'] as const);
    const amountDueCents = 1 + random.integer(100_000);
    await make.invoice(organization.id, child.id, {
      ...{ status, amountDueCents, amountPaidCents: status === 'paid' ? amountDueCents : 0, createdAt: at },
      invoiceNumber: status === 'draft' ? null : `N${seed}-${n}`,
      sentAt: status === 'draft' || random.chance(0.3) ? null : new Date(+at + random.integer(60) * 86_400_000),
    });
    const recorded = day();
    const received = new Date(+recorded - random.integer(50) * 86_400_000).toISOString().slice(0, 10);
    await make.payment(organization.id, {
      ...{ studentId: child.id, amountCents: 500 + random.integer(100_000), refundAmountCents: random.pick([null, 200]), createdAt: recorded },
      ...{ receivedOn: random.pick([null, received]), status: random.pick(['succeeded', 'refunded', 'canceled'] as const) },
    });
  }
}

/** The sums of the database, each by its own way. */
const truth = (room: Room) =>
  make.query<{ month: string; lessons: number; hours: string; billed: string; pay: string; invoiced: string; received: string }>(
    `WITH months AS (SELECT to_char(m, 'YYYY-MM') AS month FROM generate_series('2025-07-01'::date, '2026-06-01', '1 month') m),
      s AS (SELECT to_char(starts_at AT TIME ZONE '${ZONE}', 'YYYY-MM') AS month, * FROM sessions WHERE organization_id = $1 AND status = 'completed'),
      i AS (SELECT to_char(coalesce(sent_at, created_at) AT TIME ZONE '${ZONE}', 'YYYY-MM') AS month, * FROM invoices
        WHERE organization_id = $1 AND status NOT IN ('draft', 'void')),
      p AS (SELECT to_char(coalesce(received_on::timestamp, created_at AT TIME ZONE '${ZONE}'), 'YYYY-MM') AS month, * FROM payments
        WHERE organization_id = $1 AND status IN ('succeeded', 'refunded'))
    SELECT month, (SELECT count(*)::int FROM s WHERE s.month = m.month) AS lessons,
      to_char((SELECT coalesce(sum(duration_minutes), 0) / 60.0 FROM s WHERE s.month = m.month), 'FM999990.00') AS hours,
      to_char((SELECT coalesce(sum(amount_owed_cents), 0) / 100.0 FROM s WHERE s.month = m.month), 'FM999999990.00') AS billed,
      to_char((SELECT coalesce(sum(tutor_pay_cents), 0) / 100.0 FROM s WHERE s.month = m.month), 'FM999999990.00') AS pay,
      to_char((SELECT coalesce(sum(amount_due_cents), 0) / 100.0 FROM i WHERE i.month = m.month), 'FM999999990.00') AS invoiced,
      to_char((SELECT coalesce(sum(amount_cents - coalesce(refund_amount_cents, 0)), 0) / 100.0 FROM p WHERE p.month = m.month), 'FM999999990.00') AS received
    FROM months m ORDER BY 1`,
    [room.organization.id],
  );

const sum = (rows: Record<string, string>[], name: string) => rows.reduce((total, row) => total + Math.round(Number(row[name]) * 100), 0);

it.each([1, 2, 3])('reports are the sums of the database, by month, tutor and subject alike, on the page and in the file (%i)', async (seed) => {
  const room = await moneyOffice(portal);
  await history(room, seed);
  const months = await file(room, 'month');
  expect(months.map(({ currency: _, ...row }) => ({ ...row, lessons: Number(row.lessons) }))).toEqual(await truth(room));
  for (const by of ['tutor', 'subject']) {
    const rows = await file(room, by);
    for (const name of ['lessons', 'hours', 'billed', 'pay']) expect([by, name, sum(rows, name)]).toEqual([by, name, sum(months, name)]);
    expect(tableIn(await room.look(`/reports?by=${by}&${YEAR}`)).map(([name]) => name)).toEqual([
      ...rows.map((row) => row[by] || 'No subject'),
      'Together',
    ]);
  }
  const page = await room.look(`/reports?${YEAR}`);
  const money = (cents: number) => new Intl.NumberFormat('en-AU', { style: 'currency', currency: 'AUD' }).format(cents / 100);
  expect(tableIn(page).at(-1)).toEqual(expect.arrayContaining(['invoiced', 'received', 'billed', 'pay'].map((name) => money(sum(months, name)))));
  expect(page.match(/<rect class="bars/g)).toHaveLength(24);
});

it('a report is of a year at most, and ignores what is no month or kind', async () => {
  const room = await moneyOffice(portal);
  expect(tableIn(await room.look('/reports?from=2020-01&to=2026-06'))).toHaveLength(13);
  expect(tableIn(await room.look('/reports?by=constructor&from=x&to[]=y'))).toHaveLength(13);
  expect(await room.look('/reports?by=tutor')).toContain('No lessons in these months');
  const tutor = await portal.someone('tutor', { organization: room.organization });
  for (const path of ['/reports', '/reports/download']) expect((await portal.get(`${room.base}${path}`, tutor.cookie)).status).toBe(403);
});
