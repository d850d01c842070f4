/**
 * Updates a window and counts a hit if there is room, in one call and on Redis's own clock. The window is a hash of
 * seconds and their hits.
 *
 * Arguments: seconds kept, limit, requested hits (0 or 1). Then for each second that the caller reports: its time, the
 * hits that Redis had counted when it last answered (it may have lost them), and the hits that the caller allowed by
 * itself. If several callers restore the same second, hits that another allowed can hide hits that only one knows
 * about.
 */
export const HIT = `
local time = redis.call('TIME')
local now = tonumber(time[1])
local kept, limit, asked = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
for i = 4, #ARGV, 3 do
  local stored = tonumber(redis.call('HGET', KEYS[1], ARGV[i])) or 0
  redis.call('HSET', KEYS[1], ARGV[i], math.max(stored, tonumber(ARGV[i + 1])) + tonumber(ARGV[i + 2]))
end
local fields = redis.call('HGETALL', KEYS[1])
local counts, used = {}, 0
for i = 1, #fields, 2 do
  local second = tonumber(fields[i])
  -- Later than now: counted before the clock was set back. It would lock out until the clock caught up.
  if second <= now - kept or second > now then
    redis.call('HDEL', KEYS[1], fields[i])
  else
    counts[second] = tonumber(fields[i + 1])
    used = used + counts[second]
  end
end
local allowed = 0
if asked == 1 and used < limit then
  counts[now] = redis.call('HINCRBY', KEYS[1], now, 1)
  allowed = 1
end
redis.call('EXPIRE', KEYS[1], kept)
local window = {}
for second = now - kept + 1, now do
  if counts[second] then window[#window + 1] = second .. ',' .. counts[second] end
end
return { allowed, now * 1000 + math.floor(tonumber(time[2]) / 1000), '[' .. table.concat(window, ',') .. ']' }
`;

/** Registers a process that shares the limits. Returns how many do, counting those that registered recently. */
export const REGISTER = `
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
`;
