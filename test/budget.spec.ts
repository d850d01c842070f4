import fc from 'fast-check';
import { Budget, type Holding, QueueFull } from '@app/concurrency';

describe('a budget of bytes', () => {
  it('refuses the newest holding of whoever holds the most', () => {
    const budget = new Budget(100);
    const hold = (owner: string, bytes: number) => {
      const holding = budget.open(owner);
      budget.add(holding, bytes);
      return holding;
    };
    const [old, young, other] = [hold('many', 30), hold('many', 30), hold('few', 40)];
    const more = hold('few', 10);
    expect([old, young, other, more].map(({ signal }) => signal.aborted)).toEqual([false, true, false, false]);
    expect(young.signal.reason).toBeInstanceOf(QueueFull);
    expect(budget.bytes).toBe(80);
    // What is in use cannot go: then the newcomer does.
    for (const holding of [old, other, more]) holding.kept = true;
    expect(hold('new', 30).signal.aborted).toBe(true);
    expect(budget.bytes).toBe(80);
  });

  it('is never exceeded, and forgets nothing, whatever happens', () => {
    const step = fc.oneof(
      fc.record({ open: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ add: fc.nat(), bytes: fc.integer({ min: 0, max: 60 }) }),
      fc.record({ release: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const budget = new Budget(100);
        const holdings: Holding[] = [];
        const released = new Set<Holding>();
        for (const one of steps) {
          if ('open' in one) holdings.push(budget.open(one.open));
          else if (holdings.length === 0) continue;
          else if ('add' in one) budget.add(holdings[one.add % holdings.length]!, one.bytes);
          else {
            const holding = holdings[one.release % holdings.length]!;
            budget.release(holding);
            released.add(holding);
          }
          const held = holdings.filter((holding) => !released.has(holding) && !holding.signal.aborted);
          expect(budget.bytes).toBe(held.reduce((sum, { bytes }) => sum + bytes, 0));
          expect(budget.bytes).toBeLessThanOrEqual(100);
        }
      }),
    );
  });
});
