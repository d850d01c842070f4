import { setTimeout as sleep } from 'node:timers/promises';
import { FairQueue, QueueFull } from '../../apps/api/src/media/fair-queue.js';

const LIMITS = { perOwner: 4, waiting: 6, wait: 60_000 };
const here = new AbortController().signal;

/** A queue whose tasks wait to be let go, and the order in which they began. */
function queueOf(limits = LIMITS) {
  const queue = new FairQueue(limits);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const add = (owner: string, gone = here) =>
    queue.run(owner, gone, () => {
      begun.push(owner);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const endOne = async () => {
    ends.shift()!();
    await sleep(0);
  };
  return { queue, begun, add, endOne };
}

it('runs one task at a time, the owners in turns', async () => {
  const { begun, add, endOne } = queueOf();
  const tasks = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map((owner) => add(owner));
  for (let count = 1; count <= tasks.length; count++) {
    expect(begun).toHaveLength(count);
    await endOne();
  }
  await Promise.all(tasks);
  expect(begun.join('')).toBe('aabcaba');
});

it('refuses an owner that has too many, and everybody when too many wait', async () => {
  const { queue, add, endOne } = queueOf();
  const tasks = ['a', 'a', 'a', 'a'].map((owner) => add(owner));
  await expect(add('a')).rejects.toThrow(QueueFull);
  expect(() => queue.check('a')).toThrow(QueueFull);
  tasks.push(...['b', 'b', 'c'].map((owner) => add(owner)));
  await expect(add('d')).rejects.toThrow(QueueFull);
  // One that ends makes room for one.
  await endOne();
  queue.check('a');
  tasks.push(add('d'));
  await expect(add('e')).rejects.toThrow(QueueFull);
  for (let count = 1; count < tasks.length; count++) await endOne();
  await Promise.all(tasks);
});

it('a wait ends in time, or with its client, and the others keep their turns', async () => {
  const { begun, add, endOne } = queueOf({ ...LIMITS, wait: 30 });
  const first = add('a');
  const gone = new AbortController();
  const left = add('b', gone.signal);
  const late = add('c');
  gone.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await expect(late).rejects.toThrow(QueueFull);
  await expect(add('d', gone.signal)).rejects.toThrow('left');
  const next = add('e');
  await endOne();
  await first;
  await endOne();
  await next;
  expect(begun).toEqual(['a', 'e']);
  // Nothing is held by those who left.
  const last = add('b');
  await endOne();
  await last;
});

it('a task that fails hands its turn on', async () => {
  const queue = new FairQueue(LIMITS);
  const failing = queue.run('a', here, () => Promise.reject(new Error('planted')));
  const next = queue.run('b', here, () => Promise.resolve('done'));
  await expect(failing).rejects.toThrow('planted');
  await expect(next).resolves.toBe('done');
  await expect(queue.run('a', here, () => Promise.resolve('again'))).resolves.toBe('again');
});
