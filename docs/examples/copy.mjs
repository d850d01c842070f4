// Keeps a copy of an organization in memory and in a file, by its lists and its events alone.
// usage: BASE=https://… KEY=tk_live_… [ONCE=1] node copy.mjs [file]
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [{ BASE, KEY, ONCE }, file = 'copy.json'] = [process.env, process.argv[2]];

async function get(path) {
  for (;;) {
    const response = await fetch(BASE + path, { headers: { Authorization: `Token token=${KEY}` } }).catch(() => null);
    const { status } = response ?? { status: 503 };
    if (status !== 429 && status < 500) return { status, body: await response.json() };
    await sleep(1_000 * Number(response?.headers.get('retry-after') ?? 1));
  }
}

/** All records of a list, whichever way of paging it has. */
async function all(path) {
  const records = [];
  for (const paging of ['cursor', 'offset', 'none']) {
    for (let next = paging === 'cursor' ? 'start' : 0; next !== null;) {
      const query = paging === 'none' ? '' : `?limit=100&${paging}=${next}`;
      const { status, body } = await get(path + query);
      if (status === 422 && records.length === 0) break;
      if (status !== 200) return records;
      const page = Array.isArray(body) ? body : body.data;
      records.push(...page);
      if (paging === 'cursor') next = body.meta?.next_cursor ?? null;
      else next = paging === 'offset' && page.length === 100 ? next + 100 : null;
      if (next === null) return records;
    }
  }
  return records;
}

const { data: types } = (await get('/v1/event-types')).body;
const resources = new Map(types.map(({ resource, list, path }) => [resource, { list, path }]));
const copy = { cursor: null, records: {} };

/** Reads a list again; one that hangs from another record, for each of those. */
async function readList(resource, list) {
  const [, parent] = /\{(\w+)_id\}/.exec(list) ?? [];
  const found = [];
  for (const id of parent ? Object.keys(copy.records[parent] ?? {}) : [''])
    found.push(...(await all(list.replace(/\{\w+\}/, id))));
  copy.records[resource] = Object.fromEntries(found.map((record) => [record.id ?? 'one', record]));
}

/** Everything from the beginning. The cursor comes first: what changes meanwhile is read once more, and nothing is missed. */
async function start() {
  copy.cursor = (await get('/v1/events?cursor=now')).body.meta.next_cursor;
  const depth = ([, { list }]) => (list ?? '').split('{').length;
  for (const [resource, { list, path }] of [...resources].sort((a, b) => depth(a) - depth(b))) {
    if (list) await readList(resource, list);
    else if (path) copy.records[resource] = { one: (await get(path)).body };
  }
}

/** Reads what an event is about. Its record may have changed again since, or be gone: what is there now is what counts. */
async function apply({ resource, resource_id: id }) {
  const { list, path } = resources.get(resource) ?? {};
  // Its own event tells of those who take part, too.
  if (resource === 'session') await readList('lesson_participant', '/v1/lesson-participants');
  if (!path) return list && readList(resource, list);
  const { status, body } = await get(path.replace('{id}', id));
  if (status === 200) (copy.records[resource] ??= {})[path.includes('{id}') ? id : 'one'] = body;
  else delete copy.records[resource]?.[id];
}

if (existsSync(file)) Object.assign(copy, JSON.parse(readFileSync(file, 'utf8')));
for (;;) {
  if (!copy.cursor) await start();
  const { status, body } = await get(`/v1/events?cursor=${copy.cursor}&limit=100&wait=${ONCE ? 0 : 20}`);
  if (status !== 200 && status !== 410) throw new Error(JSON.stringify(body));
  for (const event of body.data ?? []) await apply(event);
  copy.cursor = status === 410 ? null : body.meta.next_cursor;
  writeFileSync(`${file}.new`, JSON.stringify(copy));
  renameSync(`${file}.new`, file);
  if (ONCE && status === 200 && !body.meta.has_more) break;
}
