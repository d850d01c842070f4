import { raw } from 'sql-template-tag';

/** A row of `events`. */
export interface StoredEvent {
  id: string;
  type: string;
  timestamp: Date;
  resource: string;
  resource_id: string;
  /** Ids, the state and the names of changed fields; never their values. */
  data: object;
}

/** The columns of a {@link StoredEvent}. */
export const EVENT_COLUMNS = raw('id, type, timestamp, resource, resource_id, data');

/** An event as JSON. The feed and webhooks both send this text, so that it is the same byte for byte. */
export function eventJson({ id, type, timestamp, resource, resource_id, data }: StoredEvent): string {
  return JSON.stringify({ id, type, timestamp, resource, resource_id, data });
}
