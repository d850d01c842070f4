import fc from 'fast-check';
import { MoneyFixture } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

/** At the same time. */
const CLIENTS = 4;

const api = await fixture(TestApi.start());

const amount = fc.integer({ min: 1, max: 9_000 });
const which = fc.nat(50);
const student = fc.nat(2);

/** What somebody does with one of the students, invoices, payments or sessions that there are. */
const act = fc.oneof(
  fc.record({ do: fc.constant('teach' as const), student, amount, which }),
  fc.record({ do: fc.constant('reopen' as const), student, amount, which }),
  fc.record({ do: fc.constant('draft' as const), student, amount, which }),
  fc.record({ do: fc.constant('finalize' as const), student, amount, which }),
  fc.record({ do: fc.constant('void' as const), student, amount, which }),
  fc.record({ do: fc.constant('rebill' as const), student, amount, which }),
  fc.record({ do: fc.constant('pay' as const), student, amount, which }),
  fc.record({ do: fc.constant('parent pays' as const), student, amount, which }),
  fc.record({ do: fc.constant('refund' as const), student, amount, which }),
);
type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;

/** What was made, as the answers told, and what was paid and given back. */
interface Log {
  invoices: string[];
  payments: string[];
  sessions: string[];
  paid: number;
  refunded: number;
}

async function perform(at: MoneyFixture, log: Log, { do: what, student: index, amount: cents, which: place }: Act): Promise<number> {
  const student = at.students[index]!;
  const [invoice, payment, session] = [log.invoices, log.payments, log.sessions].map((ids) => ids[place % ids.length] ?? student);
  if (what === 'teach') {
    const { id } = await at.lesson(45, {
      student_ids: [student, at.students[0]].filter((one, at, all) => all.indexOf(one) === at),
      student_rate_cents: cents,
    });
    log.sessions.push(id);
    return (await at.complete(id)).status;
  }
  if (what === 'reopen') return (await at.send('post', `/v1/sessions/${session}/reopen`)).status;
  if (what === 'draft') {
    log.invoices.push((await at.drafted(student, cents)).id);
    return 201;
  }
  if (what === 'finalize') {
    for (const { id } of await at.invoices(student, 'draft')) log.invoices.push(id);
    return (await at.finalize(log.invoices[place % log.invoices.length] ?? student)).status;
  }
  if (what === 'void' || what === 'rebill') return (await at.void(invoice!, { rebill: what === 'rebill' })).status;
  if (what === 'refund') {
    const { status } = await at.refund(payment!, cents);
    if (status === 200) log.refunded += cents;
    return status;
  }
  const paid = await at.pay({ ...(what === 'pay' ? { student_id: student } : { parent_id: at.parent }), amount_cents: cents });
  log.payments.push(paid.body.id);
  log.paid += cents;
  return paid.status;
}

it('whatever several clients do at the same time, the books add up, and no money is lost or made', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(act, { minLength: 1, maxLength: CLIENTS }), { minLength: 5, maxLength: 12 }), async (rounds) => {
      const at = await MoneyFixture.open(api);
      await api.make.parent(at.calendar.school, { children: at.students.slice(1) });
      const log: Log = { invoices: [], payments: [], sessions: [], paid: 0, refunded: 0 };
      for (const acts of rounds) {
        const statuses = await Promise.all(acts.map((one) => perform(at, log, one)));
        for (const status of statuses) expect([200, 201, 404, 409, 422]).toContain(status);
        expect(await at.faults()).toEqual([]);
      }
      const invoices = (await Promise.all(at.students.map((one) => at.invoices(one)))).flat();
      const applied = invoices.reduce((sum, one) => sum + one.amount_paid_cents, 0);
      const [row] = await api.make.query<{ credit: string }>(
        'SELECT coalesce(sum(credit_cents), 0) AS credit FROM payments WHERE organization_id = $1',
        [at.calendar.school],
      );
      expect(applied + Number(row!.credit)).toBe(log.paid - log.refunded);
    }),
    { numRuns: 30, endOnFailure: true },
  );
});
