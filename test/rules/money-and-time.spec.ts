import fc from 'fast-check';
import { allocate, type OpenInvoice, priceOf } from '@app/billing';
import { overlapping, overlaps, type Timed } from '@app/scheduling';

const cents = fc.bigInt({ min: 0n, max: 1_000_000_000_000n });

describe('the price of some minutes', () => {
  it.each([
    [6_000n, 45n, 4_500n],
    [1n, 29n, 0n],
    [1n, 30n, 1n],
    [-1n, 30n, -1n],
    [-1n, 29n, 0n],
    [4_999n, 50n, 4_166n],
    [0n, 60n, 0n],
  ])('%i an hour for %i minutes is %i', (rate, minutes, price) => {
    expect(priceOf(rate, minutes)).toBe(price);
  });

  it('is within half a cent of the exact one, away from zero when in the middle', () => {
    const rates = fc.bigInt({ min: -10_000_000n, max: 10_000_000n });
    fc.assert(
      fc.property(rates, fc.bigInt({ min: 5n, max: 720n }), (rate, minutes) => {
        const off = 60n * priceOf(rate, minutes) - rate * minutes;
        expect(rate < 0n ? off >= -30n && off < 30n : off > -30n && off <= 30n).toBe(true);
        expect(priceOf(-rate, minutes)).toBe(-priceOf(rate, minutes));
      }),
    );
  });
});

describe('the allocation of money', () => {
  const days = fc.constantFrom('2026-01-31', '2026-02-28', '2026-03-01', null);
  const invoices = fc
    .array(fc.record({ dueDate: days, outstandingCents: cents }), { maxLength: 6 })
    .map((rows): OpenInvoice[] => rows.map((row, index) => ({ id: `invoice-${index}`, ...row })));

  it('loses and invents nothing, and never pays more than is due', () => {
    fc.assert(
      fc.property(cents, invoices, (money, open) => {
        const { allocations, creditCents } = allocate(money, open);
        const applied = allocations.reduce((sum, { amountCents }) => sum + amountCents, 0n);
        expect(applied + creditCents).toBe(money);
        expect(new Set(allocations.map(({ invoiceId }) => invoiceId)).size).toBe(allocations.length);
        for (const { invoiceId, amountCents } of allocations) {
          const { outstandingCents } = open.find(({ id }) => id === invoiceId)!;
          expect(amountCents > 0n && amountCents <= outstandingCents).toBe(true);
        }
        const due = open.reduce((sum, { outstandingCents }) => sum + outstandingCents, 0n);
        expect(creditCents).toBe(money > due ? money - due : 0n);
      }),
    );
  });

  it('covers the named invoice, then those due earlier, before any other gets a cent', () => {
    fc.assert(
      fc.property(cents, invoices, fc.nat(6), (money, open, index) => {
        const first = open[index]?.id ?? null;
        const paid = new Map(allocate(money, open, first).allocations.map((one) => [one.invoiceId, one.amountCents]));
        const before = (one: OpenInvoice, other: OpenInvoice) =>
          other.id !== first && (one.id === first || (one.dueDate ?? '~') < (other.dueDate ?? '~'));
        for (const one of open) {
          for (const other of open) {
            if (before(one, other) && paid.has(other.id)) expect(paid.get(one.id) ?? 0n).toBe(one.outstandingCents);
          }
        }
      }),
    );
  });
});

describe('overlap', () => {
  const times = fc
    .tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 20 }))
    .map(([start, minutes]): Timed => ({ startsAt: at(start), endsAt: at(start + minutes) }));

  it('means to have a minute in common', () => {
    const minutesOf = ({ startsAt, endsAt }: Timed) => {
      const [start, end] = [startsAt.getTime() / 60_000, endsAt.getTime() / 60_000];
      return Array.from({ length: end - start }, (_, index) => start + index);
    };
    fc.assert(
      fc.property(times, times, (one, other) => {
        const together = minutesOf(one).some((minute) => minutesOf(other).includes(minute));
        expect(overlaps(one, other)).toBe(together);
        expect(overlapping(one, [other, one])).toEqual(together ? [other, one] : [one]);
      }),
    );
  });

  it('does not include two that touch', () => {
    const [one, other] = [
      { startsAt: at(0), endsAt: at(60) },
      { startsAt: at(60), endsAt: at(90) },
    ];
    expect([overlaps(one, other), overlaps(other, one)]).toEqual([false, false]);
  });
});

function at(minute: number): Date {
  return new Date(minute * 60_000);
}
