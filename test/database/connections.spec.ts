import type { ClientBase } from 'pg';
import { type Claim, QueueFull } from '@app/concurrency';
import { Deadline, DeadlineExceeded, isUnavailable, RetryTransaction } from '@app/database';
import { QueryFailedError } from 'typeorm';
import { Connections } from '../../libs/database/src/connections.js';
import type { Lease } from '../../libs/database/src/lease.js';

/** Connections with the accesses that were granted one, in order. */
function connectionsOf(permits: number | null) {
  const connections = new Connections({ permits, patience: 60_000 });
  const granted: string[] = [];
  const leases: Lease[] = [];
  const ask = async (claim: Claim, deadline?: Deadline) => {
    const lease = await connections.lease(claim, deadline);
    granted.push(claim.owner);
    leases.push(lease);
    return lease;
  };
  /** How many of these wait. The others are granted at once. */
  const waiting = async (claim: Claim, count: number) => {
    const before = connections.waiting;
    for (let n = 0; n < count; n++) ask(claim).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(0);
    return connections.waiting - before;
  };
  return { connections, granted, leases, ask, waiting };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('connections', () => {
  it('go to one organization by half at most, and to all of them but two', async () => {
    const { connections, waiting } = connectionsOf(8);
    expect(await waiting(connections.ofOrganization('a'), 5)).toBe(1);
    expect(await waiting(connections.ofOrganization('b'), 5)).toBe(3);
    expect(await waiting(connections.ofLane('rest'), 1)).toBe(1);
    // One of the two is for key look-ups, the other for what shows whether the service works.
    expect(await waiting(connections.ofLane('keys'), 2)).toBe(1);
    expect(await waiting(connections.ofOrganization('a', 'urgent'), 2)).toBe(1);
    expect(await waiting(connections.ofLane('urgent'), 1)).toBe(1);
  });

  it('are all in use when the pool is small', async () => {
    const { connections, waiting } = connectionsOf(2);
    expect(await waiting(connections.ofOrganization('a'), 2)).toBe(1);
    expect(await waiting(connections.ofOrganization('b'), 2)).toBe(1);
    const single = connectionsOf(1);
    expect(await single.waiting(single.connections.ofOrganization('a'), 2)).toBe(1);
  });

  it('are unlimited without a number of permits', async () => {
    const { connections, waiting } = connectionsOf(null);
    expect(await waiting(connections.ofOrganization('a'), 1_000)).toBe(0);
  });

  it('are refused once too many wait, except to key look-ups', async () => {
    const { connections, ask, waiting } = connectionsOf(8);
    expect(await waiting(connections.ofOrganization('a'), 300)).toBe(252);
    await expect(ask(connections.ofOrganization('a'))).rejects.toThrow(QueueFull);
    expect(await waiting(connections.ofLane('keys'), 300)).toBe(297);
    expect(await waiting(connections.ofOrganization('b'), 300)).toBe(51);
  });

  it('serve low priority one at a time, with a pause, while half of them are free', async () => {
    const { connections, granted, leases, ask, waiting } = connectionsOf(8);
    const low = connections.ofOrganization('a', 'low');
    expect(await waiting(low, 8)).toBe(7);
    await expect(ask(low)).rejects.toThrow(QueueFull);
    await vi.advanceTimersByTimeAsync(300);
    leases.shift()!.end();
    await vi.advanceTimersByTimeAsync(299);
    expect(granted).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(granted).toHaveLength(2);
    // No pause takes longer than a second.
    await vi.advanceTimersByTimeAsync(2_000);
    leases.shift()!.end();
    await vi.advanceTimersByTimeAsync(999);
    expect(granted).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(granted).toHaveLength(3);
    const busy = connectionsOf(8);
    expect(await busy.waiting(busy.connections.ofOrganization('b'), 4)).toBe(0);
    expect(await busy.waiting(busy.connections.ofOrganization('a', 'low'), 1)).toBe(1);
  });

  it('are waited for until the deadline, or four seconds', async () => {
    const { connections, ask, waiting } = connectionsOf(1);
    await waiting(connections.ofOrganization('a'), 1);
    const refused = (milliseconds: number) => {
      const began = performance.now();
      return ask(connections.ofOrganization('b'), new Deadline(milliseconds)).catch((error: unknown) => [
        error instanceof QueueFull,
        Math.round((performance.now() - began) / 100) * 100,
      ]);
    };
    const both = Promise.all([refused(1_000), refused(10_000)]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await both).toEqual([[true, 1_000], [true, 4_000]]); // prettier-ignore
    await expect(ask(connections.ofOrganization('c'), new Deadline(0))).rejects.toThrow(DeadlineExceeded);
  });

  it('are cut at the deadline, which may be extended', async () => {
    const { ask } = connectionsOf(8);
    const cut: string[] = [];
    const client = (name: string) =>
      ({ connection: { stream: { destroy: () => cut.push(name) } } }) as unknown as ClientBase;
    const [deadline, longer] = [new Deadline(1_000), new Deadline(1_000)];
    const [busy, ended, extended, idle] = await Promise.all([
      ask({ owner: 'a' }, deadline),
      ask({ owner: 'b' }, deadline),
      ask({ owner: 'c' }, longer),
      ask({ owner: 'd' }, deadline),
    ]);
    const given: Error[] = [];
    busy.onExpiry((error) => given.push(error));
    expect([busy, ended, extended].map((lease, index) => lease.take(client(`${index}`)))).toEqual([true, true, true]);
    ended.end();
    longer.extend(1_000);
    await vi.advanceTimersByTimeAsync(1_200);
    expect([cut, given.map((error) => error instanceof DeadlineExceeded)]).toEqual([['0'], [true]]);
    // A connection that comes too late goes back to the pool.
    expect(idle.take(client('late'))).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(cut).toEqual(['0', '2']);
  });
});

describe('an unavailable database', () => {
  const coded = (code: string) => Object.assign(new Error('x'), { code });

  it.each<[string, unknown, boolean]>([
    ['a full queue', new QueueFull(), true],
    ['a deadline', new DeadlineExceeded(), true],
    ['a transaction to be run again', new RetryTransaction(), true],
    ...['08006', '53300', '57014', '57P01', '55P03', '25P03', '25P04', '40001', '40P01'].map(
      (code) => [code, new QueryFailedError('', [], coded(code)), true] as [string, unknown, boolean],
    ),
    ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'].map(
      (code) => [code, coded(code), true] as [string, unknown, boolean],
    ),
    ['a lost connection', new Error('Connection terminated unexpectedly'), true],
    ...['23505', '42501', '25006', '25P02', 'ENOENT', '57'].map(
      (code) => [code, coded(code), false] as [string, unknown, boolean],
    ),
    ['a fault of ours', new TypeError('x is not a function'), false],
    ['no error', { code: '57014' }, false],
    ['nothing', undefined, false],
  ])('is told by its error: %s', (_, error, unavailable) => {
    expect(isUnavailable(error)).toBe(unavailable);
  });
});
