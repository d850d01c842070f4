import sql, { join } from 'sql-template-tag';
import { SCOPES } from '@app/access';
import { TOLD } from '@app/database';
import { operationOf } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import type { Caller } from '../../../apps/api/src/http/auth/caller.js';
import type { Factories } from '../data/factories.js';
import type { TestApi } from '../http/api.js';
import { keyedReads, nameOf } from '../http/routes.js';

/** What an event tells, as it is stored. */
export interface Told {
  type: string;
  resource: string;
  resource_id: string;
  data: { changed: string[] } & Record<string, unknown>;
}

type Fields = Record<string, string>;

/** Every record that the API shows an organization, by resource and id, with its fields. */
export async function shownTo(api: TestApi, organizationId: string): Promise<Map<string, Fields>> {
  const caller = { organizationId, platformBlog: false, scopes: new Set<string>(Object.keys(SCOPES)) } as unknown as Caller;
  const lists = TOLD.flatMap(({ resource, list: path }) => {
    const route = keyedReads(api).find((one) => nameOf(one) === `GET ${path}`);
    const { list } = (route && operationOf(route.handler)) ?? {};
    if (!list) return [];
    const source = list.source;
    return [
      sql`SELECT ${resource} AS resource, (${list.view.json})::text AS data FROM ${source.all}
      WHERE ${source.sightOf(caller)} AND ${list.where ?? sql`true`}`,
    ];
  });
  lists.push(sql`SELECT 'org', (to_jsonb(o) - 'updated_at')::text FROM organizations o WHERE id = ${organizationId}`);
  const { text, values } = join(lists, ' UNION ALL ');
  const rows = await api.make.query<{ resource: string; data: string }>(text, values);
  return new Map(
    rows.map(({ resource, data }) => {
      const record = JSON.parse(data) as { id: string };
      return [`${resource} ${record.id}`, Object.fromEntries(Object.entries(record).map(([field, value]) => [field, JSON.stringify(value)]))];
    }),
  );
}

/** Numbers all that has changed; another numberer's turn is waited for. */
async function number(make: Factories): Promise<void> {
  while ((await make.query('SELECT FROM event_changes LIMIT 1')).length > 0) await make.query('SELECT number_events()');
}

/** What is told of a change, once it has been numbered. */
export async function told(make: Factories, organizationId: string, change: () => Promise<unknown>): Promise<Told[]> {
  await number(make);
  const [last] = await make.query<{ number: string }>('SELECT number FROM event_counter');
  await change();
  await number(make);
  return make.query<Told>(`SELECT type, resource, resource_id, data FROM events WHERE organization_id = $1 AND number > $2 ORDER BY number`, [organizationId, last!.number]); // prettier-ignore
}

/** Fields of which an event tells that no record shows: other lists do. */
const ELSEWHERE = new Set(['members', 'join_code']);

/** What the events miss of the difference, and what they tell that nobody can see. */
export function faultsOf(before: Map<string, Fields>, after: Map<string, Fields>, events: Told[]): string[] {
  const byRecord = Map.groupBy(events, ({ resource, resource_id }) => `${resource} ${resource_id}`);
  const faults: string[] = [];
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(name), after.get(name)];
    const told = byRecord.get(name) ?? [];
    const fields = was && is ? Object.keys(is).filter((field) => was[field] !== is[field]) : [];
    if (was && is && fields.length === 0) continue;
    const kind = was ? (is ? `changed ${fields.join(', ')}` : 'went') : 'came';
    const session = /^lesson_participant/.test(name) && (is ?? was)!.session_id!.slice(1, -1);
    if (told.length === 0 && !(session && byRecord.has(`session ${session}`))) faults.push(`${name} ${kind}: nothing is told`);
    const changed = new Set(told.flatMap(({ data }) => data.changed));
    const missing = told.length > 0 ? fields.filter((field) => !changed.has(field)) : [];
    if (missing.length > 0)
      faults.push(`${name}: ${told.map(({ type, data }) => `${type} (${data.changed.join()})`).join(', ')} does not name ${missing.join(', ')}`);
  }
  for (const [name, told] of byRecord) {
    const [was, is] = [before.get(name), after.get(name)];
    const types = told.map(({ type }) => type);
    const differs = !was || !is || Object.keys(is).some((field) => was[field] !== is[field]);
    const elsewhere = told.some(({ data }) => data.changed.some((field) => ELSEWHERE.has(field)));
    if (!differs && !elsewhere) faults.push(`${name}: ${types.join(', ')} is told, and nothing changed`);
    if (!was && !is && !/^(invite) /.test(name)) faults.push(`${name}: ${types.join(', ')} is told of what nobody is shown`);
    if (types.length > 1 && types.some((type) => type.endsWith('.updated'))) faults.push(`${name}: ${types.join(', ')} are told of one change`);
    const unknown = told.flatMap(({ data }) => data.changed).filter((field) => is && !(field in is) && !ELSEWHERE.has(field));
    if (unknown.length > 0) faults.push(`${name}: ${types.join(', ')} names ${unknown.join(', ')}, which nobody is shown`);
  }
  return faults;
}
