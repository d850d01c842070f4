import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import type { Database } from '@app/database';
import { Completion } from '../../../libs/billing/src/completion.js';
import { Invoices } from '../../../libs/billing/src/invoices.js';
import { Payments } from '../../../libs/billing/src/payments.js';
import { Settlement } from '../../../libs/billing/src/settlement.js';
import { Random } from '../../support/data/random.js';
import { withStatement } from '../../support/faults/belonging-runs.js';
import { KilledApi } from '../../support/faults/killed-api.js';
import { findWrongMoney } from '../../support/faults/money-model.js';
import { inReport, reached, seedOf } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { fixture, inTest } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const seed = seedOf();
const KILLED = Number(process.env.HISTORIES ?? 50);

type Method = (...args: string[]) => Promise<unknown>;

/** Plants a bug in a method. @param bug gets what the method does, its database and its arguments */
function plant(prototype: object, name: string, bug: (method: () => Promise<unknown>, db: Database, args: string[]) => Promise<unknown>): void {
  const method = Reflect.get(prototype, name) as Method;
  vi.spyOn(prototype as Record<string, Method>, name).mockImplementation(function (this: { db: Database }, ...args: string[]) {
    return bug(() => method.apply(this, args), this.db, args);
  });
}

describe(`no money is lost, made or rounded twice (seed ${seed})`, () => {
  afterEach(() => void vi.restoreAllMocks());

  it('in random histories by up to eight clients at once', async () => {
    expect(await findWrongMoney(api, { seed, runs: inReport(12, 6) })).toBeNull();
  });

  // About as long as a round takes, so that most kills interrupt a request.
  it.each(inReport([0, 1, 2], []))('after every kill of the API, in as many histories (batch %d)', async (batch) => {
    const random = new Random(seed + batch);
    const own = await inTest(TestApi.start());
    const killed = await inTest(KilledApi.start({ DATABASE_URL: own.database.applicationUrl, ENCRYPTION_KEY: randomBytes(32).toString('hex') }));
    const strike = () => (killed.ready ? sleep(random.integer(80)).then(() => killed.kill()) : Promise.resolve());
    const target = { port: () => killed.port, strike, failures: 0 };
    expect(await findWrongMoney(own, { seed: seed + batch, runs: KILLED, target })).toBeNull();
    reached(54, `${KILLED} histories of money, ${killed.kills} kills that broke ${target.failures} requests: 0 amounts, numbers or answers wrong`, seed + batch); // prettier-ignore
    expect(target.failures).toBeGreaterThan(killed.kills / 2);
  });

  it('finds settling without a lock', async () => {
    vi.spyOn(Settlement.prototype, 'lock').mockResolvedValue();
    expect(await findWrongMoney(api, { seed: 7, runs: 50 })).not.toBeNull();
  });

  it('finds the sum being rounded instead of each bill', async () => {
    plant(Completion.prototype, 'complete', async (complete, db, [organization, session]) => {
      await complete();
      await db.query(sql`
        UPDATE sessions s SET amount_owed_cents = (SELECT round(coalesce(sum(p.rate_cents), 0) * s.duration_minutes / 60.0)
          FROM lesson_participants p WHERE p.session_id = s.id AND p.attendance <> 'excused')
        WHERE s.organization_id = ${organization} AND s.id = ${session}`);
    });
    expect(await findWrongMoney(api, { seed: 7, runs: 50 })).not.toBeNull();
  });

  it.each([
    ['money of parents that pays before a student’s own', 'ORDER BY p.parent_id IS NOT NULL', 'ORDER BY p.parent_id IS NULL', 'own money first'],
    ['credit that a void does not give back', 'p.credit_cents + s.cents', 'p.credit_cents', 'payment parts'],
  ])('finds %s', async (_, right, wrong, named) => {
    await withStatement([right, wrong], async () => expect(await findWrongMoney(api, { seed: 7, runs: 0 })).toContain(named));
  });

  it('finds refunds that take back what was applied first', async () => {
    plant(Payments.prototype, 'appliedOf', async (appliedOf) => ((await appliedOf()) as unknown[]).toReversed());
    expect(await findWrongMoney(api, { seed: 7, runs: 0 })).toContain('a refund took');
  });

  it('finds numbers that are taken before it is sure that they are used', async () => {
    const taken = new Map<string, number>();
    plant(Invoices.prototype, 'finalize', async (finalize, db, [organization, id]) => {
      const number = (taken.get(organization!) ?? 0) + 1;
      taken.set(organization!, number);
      await finalize();
      await db.query(sql`
        UPDATE invoices SET invoice_number = ${`INV-${String(number).padStart(6, '0')}`}
        WHERE organization_id = ${organization} AND id = ${id} AND sent_at >= now()::timestamptz(3)`);
    });
    expect(await findWrongMoney(api, { seed: 7, runs: 50 })).not.toBeNull();
  });
});
