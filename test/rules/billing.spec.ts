import fc from 'fast-check';
import { type Credit, type Debt, billOf, payOf, refund, settle, shareOf } from '@app/billing';

const cents = fc.bigInt({ min: 0n, max: 10_000_000n });
const minutes = fc.bigInt({ min: 5n, max: 720n });
const orNone = (amounts: fc.Arbitrary<bigint>) => fc.option(amounts);
const places = fc.array(fc.record({ rateCents: orNone(cents), surchargeCents: orNone(cents) }), { maxLength: 8 });
const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

describe('what a participant is billed', () => {
  it.each([
    [{ rateCents: 8_000n, surchargeCents: null }, 90n, 12_000n],
    [{ rateCents: 3_333n, surchargeCents: null }, 50n, 2_778n],
    [{ rateCents: 3_333n, surchargeCents: 500n }, 50n, 3_278n],
    [{ rateCents: null, surchargeCents: 500n }, 50n, 0n],
    [{ rateCents: 0n, surchargeCents: 500n }, 50n, 500n],
  ])('%o for %i minutes is %i', (place, length, bill) => {
    expect(billOf(place, length)).toBe(bill);
  });
});

describe('a percentage', () => {
  it.each([
    [2_778n, 5_000n, 1_389n],
    [2_777n, 5_000n, 1_389n],
    [3n, 1_667n, 1n],
    [100n, 0n, 0n],
    [-1n, 5_000n, -1n],
  ])('of %i, %i hundredths, is %i', (amount, hundredths, share) => {
    expect(shareOf(amount, hundredths)).toBe(share);
  });

  it('is within half a cent of the exact one, and all of it is the amount', () => {
    fc.assert(
      fc.property(cents, fc.bigInt({ min: 0n, max: 10_000n }), (amount, hundredths) => {
        const off = 10_000n * shareOf(amount, hundredths) - amount * hundredths;
        expect(off > -5_000n && off <= 5_000n).toBe(true);
        expect(shareOf(amount, 10_000n)).toBe(amount);
      }),
    );
  });
});

describe('what the tutor gets', () => {
  it('at a rate an hour does not depend on who is billed', () => {
    fc.assert(
      fc.property(cents, places, minutes, (rateCents, billed, length) => {
        const pay = payOf({ rateCents, hundredths: null }, billed, length);
        expect(pay).toBe(billOf({ rateCents, surchargeCents: null }, length));
      }),
    );
  });

  it('as a percentage is of what is billed without surcharges, rounded for the session rather than for each', () => {
    const place = (rateCents: bigint) => ({ rateCents, surchargeCents: 500n });
    // 2,778 twice: a rate for each would be 1,667 twice, 3,334.
    expect(payOf({ rateCents: null, hundredths: 6_000n }, [place(3_333n), place(3_333n)], 50n)).toBe(3_334n);
    // 3 cents at half a cent each would be 2 for each.
    expect(payOf({ rateCents: null, hundredths: 5_000n }, [place(3n), place(3n)], 60n)).toBe(3n);
    fc.assert(
      fc.property(places, minutes, (billed, length) => {
        const all = sum(billed.map((one) => billOf({ ...one, surchargeCents: null }, length)));
        expect(payOf({ rateCents: null, hundredths: 10_000n }, billed, length)).toBe(all);
        expect(payOf({ rateCents: null, hundredths: null }, billed, length)).toBe(0n);
      }),
    );
  });
});

const students = ['ada', 'ben', 'cleo'];
const debts = fc
  .array(
    fc.record({
      studentId: fc.constantFrom(...students),
      dueDate: fc.constantFrom('2026-01-31', '2026-02-28', null),
      outstandingCents: cents,
      uncollectible: fc.boolean(),
    }),
    { maxLength: 6 },
  )
  .map((rows): Debt[] => rows.map((row, index) => ({ id: `invoice-${index}`, ...row })));
const credits = fc
  .array(
    fc.record({
      studentIds: fc.subarray(students),
      creditCents: cents,
      invoiceId: fc.option(fc.nat(6).map((index) => `invoice-${index}`)),
    }),
    { maxLength: 6 },
  )
  .map((rows): Credit[] => rows.map((row, index) => ({ paymentId: `payment-${index}`, ...row })));

describe('settling', () => {
  it('never applies more than there is or is due, and leaves no credit beside an invoice that it could pay', () => {
    fc.assert(
      fc.property(credits, debts, (money, open) => {
        const applied = settle(money, open);
        const amounts = (of: Partial<(typeof applied)[number]>) =>
          sum(
            applied
              .filter((one) => Object.entries(of).every(([name, value]) => one[name as keyof typeof one] === value))
              .map((one) => one.amountCents),
          );
        for (const { amountCents } of applied) expect(amountCents).toBeGreaterThan(0n);
        for (const { id, outstandingCents } of open) expect(amounts({ invoiceId: id })).toBeLessThanOrEqual(outstandingCents);
        for (const { paymentId, creditCents, studentIds, invoiceId } of money) {
          const left = creditCents - amounts({ paymentId });
          expect(left).toBeGreaterThanOrEqual(0n);
          const payable = open.filter(({ id, studentId, uncollectible }) => id === invoiceId || (!uncollectible && studentIds.includes(studentId)));
          const foreign = applied.filter((one) => one.paymentId === paymentId && !payable.some(({ id }) => id === one.invoiceId));
          expect(foreign).toEqual([]);
          if (left === 0n) continue;
          for (const { id, outstandingCents } of payable) expect(amounts({ invoiceId: id })).toBe(outstandingCents);
        }
      }),
    );
  });
});

describe('a refund', () => {
  it('takes credit first, then what was applied last, and no more than asked for', () => {
    fc.assert(
      fc.property(cents, cents, fc.array(cents), (amount, credit, allocations) => {
        const all = allocations.map((amountCents, id) => ({ id, amountCents }));
        const { fromCreditCents, taken } = refund(amount, credit, all);
        const there = credit + sum(allocations);
        expect(fromCreditCents + sum(taken.map(({ takenCents }) => takenCents))).toBe(amount < there ? amount : there);
        if (taken.length > 0) expect(fromCreditCents).toBe(credit);
        for (const { id, takenCents } of taken) {
          expect(takenCents).toBeLessThanOrEqual(allocations[id]!);
          const later = taken.filter((other) => other.id > id);
          if (later.length > 0) expect(takenCents).toBe(allocations[id]);
        }
      }),
    );
  });
});
