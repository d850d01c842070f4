import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sizeOf, writeDemo } from '../../apps/cli/src/demo/demo.js';
import { importFolder } from '../../apps/cli/src/import/importer.js';
import { SchemaFixture } from '../support/database/schema-fixture.js';

describe('the demo’s money', () => {
  let schema: SchemaFixture;
  let folder: string;
  const schools: string[] = [];

  beforeAll(async () => {
    schema = await SchemaFixture.create();
    folder = await mkdtemp(join(tmpdir(), 'tutoring-demo-'));
    for (const written of await writeDemo({ folder, ...sizeOf('small'), seed: 7, now: new Date('2026-05-06T05:00:00Z') })) {
      const id = await schema.organization();
      await importFolder({ url: schema.urls.ownerUrl, organizationId: id, folder: written.folder });
      schools.push(id);
    }
  });

  afterAll(async () => {
    await schema.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(
    Object.entries({
      'line that is not its quantity times its price': `SELECT id FROM invoice_lines WHERE amount_cents <> quantity * unit_amount_cents`,
      'invoice that is not the sum of its lines': `SELECT id FROM invoices i WHERE amount_due_cents
        <> (SELECT sum(amount_cents) FROM invoice_lines l WHERE l.invoice_id = i.id)`,
      'invoice with another amount paid than was received for it': `SELECT id FROM invoices i WHERE amount_paid_cents
        <> (SELECT coalesce(sum(amount_cents), 0) FROM payments p WHERE p.invoice_id = i.id AND p.status = 'succeeded')`,
      'invoice in another state than its amounts': `SELECT id FROM invoices WHERE (status = 'paid') <> (amount_paid_cents = amount_due_cents)
        OR (status = 'draft') <> (invoice_number IS NULL) OR (status IN ('draft', 'void') AND amount_paid_cents > 0)`,
      'money from before the invoice, or for somebody else': `SELECT p.id FROM payments p JOIN invoices i ON i.id = p.invoice_id
        WHERE p.created_at <= i.created_at OR p.student_id <> i.student_id`,
      'lesson on an invoice at another price than its session, or twice': `SELECT l.id FROM invoice_lines l JOIN sessions s ON s.id = l.session_id
        WHERE l.amount_cents <> s.amount_owed_cents OR s.status <> 'completed' OR EXISTS (SELECT FROM invoice_lines o WHERE o.session_id = s.id AND o.id <> l.id)`,
      'refund of more or less than was paid': `SELECT id FROM payments WHERE (status = 'refunded') <> (refund_amount_cents IS NOT NULL)
        OR refund_amount_cents <> amount_cents`,
      'credit, or money that this service could refund': `SELECT id FROM payments WHERE recorded OR credit_cents > 0`,
    }),
  )('has no %s', async (_, sql) => {
    for (const school of schools) expect(await schema.as(school, sql)).toEqual([]);
  });

  it('numbers its invoices without a gap, and has drafts without a number', async () => {
    for (const school of schools) {
      const [sums] = await schema.as(school, `SELECT count(serial)::integer AS count, max(serial) AS last, min(serial) AS first,
        count(*) FILTER (WHERE status = 'draft')::integer AS drafts FROM invoices`); // prettier-ignore
      expect(sums).toMatchObject({ first: 1, last: sums!.count });
      expect(sums!.drafts).toBeGreaterThan(0);
    }
  });
});
