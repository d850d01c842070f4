/** Whether a hit is allowed (1 or 0), how many are left, and the milliseconds until there are more. */
export type Answer = [isAllowed: number, left: number, wait: number];

/** What {@link SlidingWindow.hit} does, with a list in Redis and on Redis's clock. */
export const HIT = `
local time = redis.call('TIME')
local now, ttl, limit = time[1] * 1000 + math.floor(time[2] / 1000), tonumber(ARGV[1]), tonumber(ARGV[2])
local function at(index) return tonumber(redis.call('LINDEX', KEYS[1], index)) end
-- Later than now: counted before the clock was set back. It would lock out until the clock caught up.
if (at(-1) or now) > now + 1000 then redis.call('DEL', KEYS[1]) end
while (at(0) or now) <= now - ttl do redis.call('LPOP', KEYS[1]) end
local used = redis.call('LLEN', KEYS[1])
local allowed = used < limit
if allowed then
  used = redis.call('RPUSH', KEYS[1], now)
  redis.call('PEXPIRE', KEYS[1], ttl)
end
return { allowed and 1 or 0, math.max(0, limit - used), at(math.max(0, used - limit)) + ttl - now }
`;

/** The times of the hits that were allowed, oldest first. No period of the window's length contains more than the limit. */
export class SlidingWindow {
  private readonly hits: number[] = [];
  /** The index of the oldest hit that counts. */
  private first = 0;
  private fullUntil = 0;

  /** The answer of a window that is known to be full: it cannot change before the oldest hit leaves. */
  refusal(now: number): Answer | null {
    return now < this.fullUntil ? [0, 0, this.fullUntil - now] : null;
  }

  /** @param decided what Redis has decided; else this window decides by itself */
  hit(now: number, ttl: number, limit: number, decided: Answer | null = null): Answer {
    while (this.hits[this.first]! <= now - ttl) this.first++;
    // Not at every hit, which would take longer the more there are.
    if (this.first > this.hits.length / 2) this.first -= this.hits.splice(0, this.first).length;
    const isAllowed = decided?.[0] ?? Number(this.hits.length - this.first < limit);
    if (isAllowed) this.hits.push(now);
    const left = limit - (this.hits.length - this.first);
    const answer = decided ?? [isAllowed, Math.max(0, left), this.hits[this.first + Math.max(0, -left)]! + ttl - now];
    if (!isAllowed) this.fullUntil = now + answer[2];
    return answer;
  }
}
