import { Expiries } from '../libs/concurrency/src/expiries.js';

describe('Expiries', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('expires each item once, when its time is over, unless it was deleted', () => {
    const expired: string[] = [];
    const expiries = new Expiries<{ name: string; readonly left: number }>(({ name }) => expired.push(name));
    const began = Date.now();
    const item = (name: string, ms: number) => ({
      name,
      get left() {
        return began + ms - Date.now();
      },
    });
    const deleted = item('deleted', 150);
    for (const each of [item('early', 100), deleted, item('late', 1_000)]) expiries.add(each);
    expiries.delete(deleted);
    vi.advanceTimersByTime(90);
    expect(expired).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(expired).toEqual(['early']);
    vi.advanceTimersByTime(2_000);
    expect(expired).toEqual(['early', 'late']);
    // No timer runs while it is empty; a new item starts one.
    expect(vi.getTimerCount()).toBe(0);
    expiries.add(item('next', 0));
    vi.advanceTimersByTime(100);
    expect(expired).toEqual(['early', 'late', 'next']);
  });
});
