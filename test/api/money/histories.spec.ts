import sql from 'sql-template-tag';
import type { Database } from '@app/database';
import { Completion } from '../../../libs/billing/src/completion.js';
import { Invoices } from '../../../libs/billing/src/invoices.js';
import { Payments } from '../../../libs/billing/src/payments.js';
import { Settlement } from '../../../libs/billing/src/settlement.js';
import { findWrongMoney } from '../../support/faults/money-histories.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

const databaseOf = (rule: object): Database => (rule as { db: Database }).db;

describe(`no money is lost, made or rounded twice (seed ${seed})`, () => {
  afterEach(() => void vi.restoreAllMocks());

  it('in random histories by up to eight clients at once, recomputed from what was answered', async () => {
    expect(await findWrongMoney(api, { seed, runs: 30 })).toBeNull();
  });

  it('finds settling without a lock', async () => {
    vi.spyOn(Settlement.prototype, 'hold').mockResolvedValue();
    expect(await findWrongMoney(api, { seed: 7, runs: 50 })).not.toBeNull();
  });

  it('finds the sum being rounded instead of each bill', async () => {
    const { complete } = Completion.prototype;
    vi.spyOn(Completion.prototype, 'complete').mockImplementation(async function (this: Completion, ...args) {
      await complete.apply(this, args);
      await databaseOf(this).query(sql`
        UPDATE sessions s SET amount_owed_cents = (SELECT round(coalesce(sum(p.rate_cents), 0) * s.duration_minutes / 60.0)
          FROM lesson_participants p WHERE p.session_id = s.id AND p.attendance <> 'excused')
        WHERE s.organization_id = ${args[0]} AND s.id = ${args[1]}`);
    });
    expect(await findWrongMoney(api, { seed: 7, runs: 50 })).not.toBeNull();
  });

  it('finds refunds of what was applied first', async () => {
    const payments = Payments.prototype as unknown as { appliedOf(...args: string[]): Promise<object[]> };
    const { appliedOf } = payments;
    vi.spyOn(payments, 'appliedOf').mockImplementation(async function (this: Payments, ...args) {
      return (await appliedOf.apply(this as never, args)).reverse();
    });
    expect(await findWrongMoney(api, { seed: 7, runs: 50 })).not.toBeNull();
  });

  it('finds numbers that are taken before it is sure that they are used', async () => {
    const { finalize } = Invoices.prototype;
    const taken = new Map<string, number>();
    vi.spyOn(Invoices.prototype, 'finalize').mockImplementation(async function (this: Invoices, ...args) {
      const number = (taken.get(args[0]) ?? 0) + 1;
      taken.set(args[0], number);
      await finalize.apply(this, args);
      await databaseOf(this).query(sql`
        UPDATE invoices SET invoice_number = ${`INV-${String(number).padStart(6, '0')}`}
        WHERE organization_id = ${args[0]} AND id = ${args[1]} AND sent_at = now()::timestamptz(3)`);
    });
    expect(await findWrongMoney(api, { seed: 7, runs: 50 })).not.toBeNull();
  });
});
