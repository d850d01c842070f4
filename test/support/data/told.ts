import { EVENT_TYPES } from '@app/database';
import type { Factories } from './factories.js';

/** An event as the feed shows it. */
export interface ShownEvent {
  id: string;
  type: string;
  timestamp: string;
  resource: string;
  resource_id: string;
  data: Record<string, unknown>;
}

/** Writes events as number_events does, some days ago. @returns their ids */
export async function tell(make: Factories, organizationId: string, types: string[], daysAgo = 0): Promise<string[]> {
  const resources = types.map((type) => EVENT_TYPES.find((one) => one.type === type)!.resource);
  const rows = await make.query<{ id: string; number: string }>(
    `WITH counted AS (UPDATE event_counter SET number = number + cardinality($2::text[]) RETURNING number - cardinality($2::text[]) AS before)
     INSERT INTO events (organization_id, number, type, resource, resource_id, timestamp, data)
     SELECT $1, before + t.place, t.type, t.resource, gen_random_uuid(), now() - $4 * interval '1 day', '{"changed": [], "status": "open"}'
     FROM counted, unnest($2::text[], $3::text[]) WITH ORDINALITY AS t (type, resource, place) RETURNING id, number`,
    [organizationId, types, resources, daysAgo],
  );
  return rows.sort((a, b) => Number(a.number) - Number(b.number)).map(({ id }) => id);
}

/** An organization of which nothing is told yet. */
export async function quietOrganization(make: Factories): Promise<string> {
  const { id } = await make.organization();
  for (const table of ['event_changes', 'events']) await make.query(`DELETE FROM ${table} WHERE organization_id = $1`, [id]);
  return id;
}
