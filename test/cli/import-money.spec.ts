import { randomUUID } from 'node:crypto';
import { ImportFixture } from '../support/data/import-fixture.js';

describe('imported money', () => {
  let imports: ImportFixture;

  beforeAll(async () => {
    imports = await ImportFixture.open();
  });
  beforeEach(() => imports.renew());
  afterAll(() => imports.close());

  const invoice = (more: object = {}) => ({
    id: randomUUID(),
    student_id: imports.school.student.id,
    status: 'open',
    invoice_number: 'INV-000007',
    amount_due_cents: 9_000,
    amount_paid_cents: 4_000,
    currency: 'AUD',
    ...more,
  });

  it('is history: payments carry no credit, drafts collect nothing, and invoices keep what they say was paid', async () => {
    const { student } = imports.school;
    const [open, draft] = [invoice(), invoice({ status: 'draft', invoice_number: null, amount_paid_cents: 0 })];
    const payment = { id: randomUUID(), student_id: student.id, invoice_id: open.id, amount_cents: 9_000, currency: 'AUD', payment_type: 'cash', status: 'succeeded' }; // prettier-ignore
    const line = { id: randomUUID(), invoice_id: draft.id, position: 0, quantity: 2, unit_amount_cents: 5_000, amount_cents: 9_000 };
    await imports.load(imports.school.with({ invoices: [open, draft], invoice_lines: [line], payments: [payment] }));
    expect(await imports.rows('SELECT serial::integer, collecting, amount_paid_cents::integer AS paid FROM invoices ORDER BY serial')).toEqual([
      { serial: 7, collecting: false, paid: 4_000 },
      { serial: null, collecting: false, paid: 0 },
    ]);
    expect(await imports.rows('SELECT recorded, credit_cents::integer AS credit FROM payments')).toEqual([{ recorded: false, credit: 0 }]);
  });

  it('in another currency than the organization’s is refused, in every table', async () => {
    const tables = await imports.database.all(`SELECT table_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name = 'currency' AND table_name <> 'organizations'`);
    expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['invoices', 'payments']));
    const { student, tutor } = imports.school;
    const amount = { amount_cents: 1, currency: 'USD', payment_type: 'cash', status: 'succeeded' };
    const rows: Record<string, object> = {
      invoices: invoice({ currency: 'USD' }),
      payments: { id: randomUUID(), student_id: student.id, ...amount },
      payouts: { id: randomUUID(), tutor_id: tutor.id, amount_cents: 1, currency: 'USD', paid_at: '2026-05-01' },
    };
    for (const { name } of tables) {
      const table = String(name);
      expect(await imports.faultsOf(imports.school.with({ [table]: [rows[table] as never] })), table).toEqual([
        `${table}.ndjson:1: currency: must be AUD, like the organization’s`,
      ]);
    }
  });
});
