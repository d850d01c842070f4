/** Stands for the platform, whose messages belong to no organization. */
const NOBODY = `'00000000-0000-0000-0000-000000000000'`;

/** What the worker is to do. */
export const OUTBOX = {
  'turns of the outbox': {
    says: 'Whoever has a message that waits has a turn.',
    broken: `SELECT coalesce(o.organization_id, ${NOBODY}) AS organization_id, o.id FROM outbox o WHERE o.status IN ('queued', 'failed') AND o.leased_until IS NULL
      AND NOT EXISTS (SELECT FROM outbox_turns t WHERE t.owner = o.owner AND t.at <= greatest(o.due_at, now() + interval '1 second')
        AND t.queue = CASE WHEN EXISTS (SELECT FROM webhook_endpoints e WHERE e.id = o.endpoint_id AND e.failing_since IS NOT NULL)
          THEN 'failing' ELSE o.topic END)`,
  },
};
