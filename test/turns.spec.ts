import fc from 'fast-check';
import { QueueFull, type Turn, Turns } from '@app/concurrency';

let now = 0;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Lets time pass. Whoever is gone for more than a sweep is forgotten. */
function pass(milliseconds: number): void {
  now += milliseconds;
  vi.advanceTimersByTime(milliseconds);
}

/** How busy the event loop looks from now on. */
function load(utilization: number): void {
  vi.spyOn(performance, 'eventLoopUtilization').mockReturnValue({ idle: 1, active: 1, utilization });
}

const isGranted = ({ grantedAt, over }: Turn) => grantedAt !== null && !over;
const isWaiting = ({ grantedAt, over }: Turn) => grantedAt === null && !over;
const enter = (turns: Turns, owner: string, count: number) => Array.from({ length: count }, () => turns.enter(owner));
const refused = (turn: Turn) =>
  turn.ready!.then(
    () => false,
    (error: unknown) => error instanceof QueueFull,
  );

describe('turns', () => {
  it.each([
    [10, 8],
    [3, 1],
    [2, 1],
    [1, 1],
  ])('of %i are granted at once to an owner that is alone, up to %i', (most, alone) => {
    const turns = new Turns(most);
    const entered = enter(turns, 'a', most);
    expect(entered.filter(isGranted)).toHaveLength(alone);
    expect([turns.held, turns.waiting]).toEqual([alone, most - alone]);
    for (const turn of entered) turn.end();
    expect([turns.held, turns.waiting]).toEqual([0, 0]);
  });

  it('are halved while others are present, and one each while the event loop is busy', () => {
    const turns = new Turns(10);
    load(0.1);
    turns.enter('b').end();
    const first = enter(turns, 'a', 10);
    expect(first.filter(isGranted)).toHaveLength(5);
    // After a while without b, a is alone again.
    pass(200);
    expect(first.filter(isGranted)).toHaveLength(8);
    for (const turn of first) turn.end();
    load(0.9);
    const holding = turns.enter('b');
    pass(100);
    expect(enter(turns, 'a', 10).filter(isGranted)).toHaveLength(1);
    holding.end();
  });

  it('refuse the newest of the longest queue when the queue is full', async () => {
    const turns = new Turns(2);
    const many = enter(turns, 'many', 250);
    const few = enter(turns, 'few', 9);
    expect(turns.waiting).toBe(256);
    expect(await refused(many.at(-1)!)).toBe(true);
    expect(few.filter(isWaiting).length + few.filter(isGranted).length).toBe(9);
    expect(await refused(turns.enter('many'))).toBe(true);
  });

  it('refuse who has waited too long', async () => {
    const turns = new Turns(1, 1_000);
    const [held, patient, hasty] = [turns.enter('a'), turns.enter('b'), turns.enter('c', 300)];
    pass(400);
    expect(await refused(hasty)).toBe(true);
    expect(turns.waiting).toBe(1);
    pass(700);
    expect(await refused(patient)).toBe(true);
    held.end();
    expect([turns.held, turns.waiting]).toEqual([0, 0]);
  });

  it('go on when a task fails, or leaves the queue', async () => {
    const turns = new Turns(1);
    await expect(turns.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    const held = turns.enter('a');
    const leaving = turns.enter('b');
    const next = turns.enter('c');
    leaving.end();
    leaving.end();
    expect(await refused(leaving)).toBe(true);
    held.end();
    held.end();
    await next.ready;
    expect(turns.held).toBe(1);
    next.end();
  });

  it('are never idle, never too many, and none is lost, whatever happens', () => {
    const step = fc.oneof(
      fc.record({ enter: fc.constantFrom('a', 'b', 'c', 'd') }),
      fc.record({ end: fc.nat() }),
      fc.record({ pass: fc.integer({ min: 1, max: 300 }) }),
      fc.record({ load: fc.constantFrom(0.1, 0.9) }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step, { maxLength: 120 }), (most, steps) => {
        const turns = new Turns(most);
        load(0);
        const entered: Turn[] = [];
        for (const one of steps) {
          if ('enter' in one) entered.push(turns.enter(one.enter));
          else if ('end' in one) entered[one.end % (entered.length || 1)]?.end();
          else if ('pass' in one) pass(one.pass);
          else load(one.load);
          const held = entered.filter(isGranted);
          const waiting = entered.filter(isWaiting);
          expect(turns.held).toBe(held.length);
          expect(held.length).toBeLessThanOrEqual(most);
          const spare = Math.max(1, most - 2);
          const ofOwner = (owner: string) => held.filter((turn) => turn.owner.name === owner).length;
          for (const { owner } of held) expect(ofOwner(owner.name)).toBeLessThanOrEqual(spare);
          // Whoever waits while a turn is free holds one already.
          if (held.length < most) for (const { owner } of waiting) expect(ofOwner(owner.name)).toBeGreaterThan(0);
        }
        for (const turn of entered) turn.end();
        expect([turns.held, turns.waiting]).toEqual([0, 0]);
      }),
    );
  });

  it('give owners who always have work the same time, however long their tasks take', () => {
    const cost = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(fc.array(cost, { minLength: 2, maxLength: 5 }), (costs) => {
        const turns = new Turns(1, 1_000_000);
        load(0);
        const used = costs.map(() => 0);
        let current = turns.enter('first');
        const queues = costs.map((_, owner) => enter(turns, String(owner), 3));
        current.end();
        for (let round = 0; round < 200; round++) {
          const owner = queues.findIndex((queue) => queue.some(isGranted));
          current = queues[owner]!.find(isGranted)!;
          queues[owner] = [...queues[owner]!.filter((turn) => turn !== current), turns.enter(String(owner))];
          pass(costs[owner]!);
          used[owner]! += costs[owner]!;
          current.end();
        }
        expect(Math.max(...used) - Math.min(...used)).toBeLessThanOrEqual(2 * Math.max(...costs));
        for (const turn of queues.flat()) turn.end();
      }),
      { numRuns: 30 },
    );
  });

  it('are not saved up: who was away for long starts with the others', () => {
    const turns = new Turns(1, 1_000_000);
    load(0);
    for (let round = 0; round < 50; round++) {
      const turn = turns.enter('busy');
      pass(20);
      turn.end();
    }
    const held = turns.enter('busy');
    const waiting = enter(turns, 'late', 4).concat(enter(turns, 'busy', 4));
    held.end();
    const order: string[] = [];
    for (let round = 0; round < 8; round++) {
      const turn = waiting.find(isGranted)!;
      order.push(turn.owner.name);
      pass(20);
      turn.end();
    }
    // One of them may come first; then they alternate.
    for (const half of [order.slice(0, 4), order.slice(4)]) expect(half.filter((owner) => owner === 'late').length).toBe(2);
  });
});
