import { setTimeout as sleep } from 'node:timers/promises';
import { type Claim, FairSemaphore, QueueFull, type SemaphoreLimits } from '@app/concurrency';
import { Random } from './support/data/random.js';

const LIMITS: SemaphoreLimits = { permits: 1, share: 1, perOwner: 4, waiting: 6, wait: 60_000 };
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** A semaphore whose tasks run until the test ends them, and the order in which they began. */
function semaphoreOf(limits: Partial<SemaphoreLimits> = {}) {
  const semaphore = new FairSemaphore({ ...LIMITS, ...limits });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const add = (owner: string, more: Partial<Claim> = {}) =>
    semaphore.run({ owner, ...more }, () => {
      begun.push(owner);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const endOne = async () => {
    ends.shift()!();
    await sleep(0);
  };
  return { semaphore, begun, add, endOne };
}

describe('one permit', () => {
  it('runs one task at a time, the owners in turns', async () => {
    const { begun, add, endOne } = semaphoreOf();
    const tasks = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map((owner) => add(owner));
    for (let count = 1; count <= tasks.length; count++) {
      expect(begun).toHaveLength(count);
      await endOne();
    }
    await Promise.all(tasks);
    expect(begun.join('')).toBe('aabcaba');
  });

  it('refuses an owner with too many tasks, and everybody if too many wait', async () => {
    const { semaphore, add, endOne } = semaphoreOf();
    const tasks = ['a', 'a', 'a', 'a'].map((owner) => add(owner));
    await expect(add('a')).rejects.toThrow(QueueFull);
    expect(semaphore.hasRoom('a')).toBe(false);
    tasks.push(...['b', 'b', 'c'].map((owner) => add(owner)));
    await expect(add('d')).rejects.toThrow(QueueFull);
    // One task that ends makes room for one.
    await endOne();
    expect(semaphore.hasRoom('a')).toBe(true);
    tasks.push(add('d'));
    await expect(add('e')).rejects.toThrow(QueueFull);
    for (let count = 1; count < tasks.length; count++) await endOne();
    await Promise.all(tasks);
  });

  it('ends a wait at its limit or with its client, and the others keep their turns', async () => {
    const { begun, add, endOne } = semaphoreOf({ wait: 30 });
    const first = add('a');
    const gone = new AbortController();
    const left = add('b', { signal: gone.signal });
    const late = add('c');
    gone.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect(late).rejects.toThrow(QueueFull);
    await expect(add('d', { signal: gone.signal })).rejects.toThrow('left');
    const next = add('e');
    await endOne();
    await first;
    await endOne();
    await next;
    expect(begun).toEqual(['a', 'e']);
    // Those who left hold nothing.
    const last = add('b');
    await endOne();
    await last;
  });

  it('is released by a task that fails', async () => {
    const semaphore = new FairSemaphore(LIMITS);
    const failing = semaphore.run({ owner: 'a' }, () => Promise.reject(new Error('planted')));
    const next = semaphore.run({ owner: 'b' }, () => Promise.resolve('done'));
    await expect(failing).rejects.toThrow('planted');
    await expect(next).resolves.toBe('done');
    await expect(semaphore.run({ owner: 'a' }, () => Promise.resolve('again'))).resolves.toBe('again');
  });
});

describe('an owner that pauses', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('waits while its permit serves others', async () => {
    const semaphore = new FairSemaphore(LIMITS);
    expect(semaphore.acquire({ owner: 'a' })).toBeNull();
    const other = semaphore.acquire({ owner: 'b' });
    const again = vi.fn();
    void semaphore.acquire({ owner: 'a' })!.then(again);
    semaphore.release('a', 1_000);
    await other;
    semaphore.release('b');
    expect(semaphore.acquire({ owner: 'c' })).toBeNull();
    semaphore.release('c');
    await vi.advanceTimersByTimeAsync(999);
    expect(again).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(again).toHaveBeenCalledOnce();
  });

  it('keeps the rest of its share', () => {
    const semaphore = new FairSemaphore({ ...LIMITS, permits: 3, share: 2 });
    expect(semaphore.acquire({ owner: 'a' })).toBeNull();
    semaphore.release('a', 1_000);
    expect(semaphore.acquire({ owner: 'a' })).toBeNull();
    expect(semaphore.acquire({ owner: 'a' })).not.toBeNull();
    vi.advanceTimersByTime(1_000);
    expect(semaphore.waiting).toBe(0);
  });
});

describe('several permits', () => {
  it('leave an owner beyond its share waiting while others are served', async () => {
    const { semaphore, begun, add, endOne } = semaphoreOf({ permits: 4, share: 2 });
    const tasks = ['a', 'a', 'a', 'b'].map((owner) => add(owner));
    expect(begun.join('')).toBe('aab');
    expect([semaphore.isContended('a'), semaphore.isContended('b')]).toEqual([false, true]);
    await endOne();
    expect(begun.join('')).toBe('aaba');
    for (let count = 1; count < tasks.length; count++) await endOne();
    await Promise.all(tasks);
  });

  it('are reserved for those who may take the last ones, and given to them first', async () => {
    const { begun, add, endOne } = semaphoreOf({ permits: 3, share: 3 });
    const tasks = [add('a', { reserve: 1 }), add('a', { reserve: 1 }), add('b', { reserve: 1 })];
    expect(begun.join('')).toBe('aa');
    tasks.push(add('look-up'));
    expect(begun).toEqual(['a', 'a', 'look-up']);
    tasks.push(add('look-up'));
    await endOne();
    // One is free, but b must leave one.
    expect(begun.slice(3)).toEqual(['look-up']);
    await endOne();
    expect(begun.slice(4)).toEqual([]);
    await endOne();
    expect(begun.slice(4)).toEqual(['b']);
    await endOne();
    await endOne();
    await Promise.all(tasks);
  });
});

/** A minimal model of a fair semaphore, compared with the real one after each step. */
class Model {
  readonly running: { owner: string; id: number }[] = [];
  /** Owners in order of their turns, each with its tasks in order of arrival. */
  readonly turns: { owner: string; tasks: number[] }[] = [];
  readonly granted: number[] = [];

  constructor(private readonly limits: SemaphoreLimits) {}

  private of = (owner: string) => this.running.filter((task) => task.owner === owner).length;

  arrive(owner: string, id: number): 'refused' | 'in' {
    const turn = this.turns.find((each) => each.owner === owner);
    const fits = this.running.length < this.limits.permits && this.of(owner) < this.limits.share;
    const waiting = this.turns.reduce((sum, { tasks }) => sum + tasks.length, 0);
    const full = this.of(owner) + (turn?.tasks.length ?? 0) >= this.limits.perOwner || waiting >= this.limits.waiting;
    if (full && (turn ?? !fits)) return 'refused';
    if (turn) turn.tasks.push(id);
    else this.turns.push({ owner, tasks: [id] });
    this.serve();
    return 'in';
  }

  end(id: number): void {
    this.running.splice(this.running.findIndex((task) => task.id === id), 1); // prettier-ignore
    this.serve();
  }

  leave(id: number): void {
    const turn = this.turns.find(({ tasks }) => tasks.includes(id))!;
    turn.tasks.splice(turn.tasks.indexOf(id), 1);
    if (turn.tasks.length === 0) this.turns.splice(this.turns.indexOf(turn), 1);
  }

  private serve(): void {
    for (;;) {
      const next = this.turns.findIndex(({ owner }) => this.of(owner) < this.limits.share);
      if (next < 0 || this.running.length === this.limits.permits) return;
      const [turn] = this.turns.splice(next, 1);
      const id = turn!.tasks.shift()!;
      this.running.push({ owner: turn!.owner, id });
      this.granted.push(id);
      if (turn!.tasks.length > 0) this.turns.push(turn!);
    }
  }
}

it.each([1, 2, 3, 4, 5])(
  'behaves like its model under random arrivals, ends, failures and departures (%i)',
  async (run) => {
    const random = new Random(SEED + run);
    const permits = 1 + random.integer(10);
    const limits = { permits, share: Math.max(1, permits >> 1), perOwner: 8, waiting: 20, wait: 60_000 };
    const semaphore = new FairSemaphore(limits);
    const model = new Model(limits);
    const granted: number[] = [];
    const tasks = new Map<number, { owner: string; end: () => void; fail: () => void; abort: AbortController; over: Promise<unknown> }>(); // prettier-ignore
    const pick = (ids: number[]) => ids[random.integer(ids.length)]!;
    for (let id = 0; id < 1_500; id++) {
      const running = model.running.map((task) => task.id);
      const waiting = model.turns.flatMap((turn) => turn.tasks);
      const step = random.integer(10);
      if (step < 5 || running.length + waiting.length === 0) {
        const owner = random.pick(['a', 'a', 'a', 'a', 'b', 'c', 'd']);
        const abort = new AbortController();
        const done = Promise.withResolvers<undefined>();
        const over = semaphore
        .run({ owner, signal: abort.signal }, () => {
          granted.push(id);
          return done.promise;
        })
        .then(() => 'done', (error: Error) => error.message); // prettier-ignore
        if (model.arrive(owner, id) === 'refused') expect(await over).toBe('The queue is full');
      else tasks.set(id, { owner, end: () => { done.resolve(undefined); }, fail: () => { done.reject(new Error('failed')); }, abort, over }); // prettier-ignore
      } else if (step < 9 && running.length > 0) {
        const ended = pick(running);
        const { end, fail, over } = tasks.get(ended)!;
        if (step === 8) fail();
        else end();
        await over;
        model.end(ended);
      } else if (waiting.length > 0) {
        const left = pick(waiting);
        tasks.get(left)!.abort.abort(new Error('gone'));
        expect(await tasks.get(left)!.over).toBe('gone');
        model.leave(left);
      }
      await Promise.resolve();
      expect(granted, `seed ${SEED + run}, step ${id}`).toEqual(model.granted);
      expect(semaphore.waiting).toBe(model.turns.reduce((sum, turn) => sum + turn.tasks.length, 0));
    }
    // In the end, every permit is free.
    for (let running = model.running; running.length > 0; running = model.running) {
      const { id } = running[0]!;
      tasks.get(id)!.end();
      await tasks.get(id)!.over;
      model.end(id);
    }
    const all = Array.from({ length: permits }, (_, index) => semaphore.acquire({ owner: `owner ${index}` }));
    expect(all.every((wait) => wait === null)).toBe(true);
  },
);
