import { AS_OWNER } from '../rules.js';
import { LIVES_HERE } from './moves.js';

/** Scheduled posts and build hooks. */
export const blog = /* sql */ `
  -- Posts whose time has come, with their organization (null: the platform).
  CREATE FUNCTION due_posts(most integer) RETURNS TABLE (id uuid, organization_id uuid)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT p.id, p.organization_id FROM blog_posts p
    WHERE p.scheduled_at <= now() AND p.status = 'draft' AND ${LIVES_HERE('p.organization_id')} ORDER BY p.scheduled_at LIMIT least(most, 1000)
  $$;

  CREATE FUNCTION rebuild_hook(wanted text) RETURNS TABLE (url text, secret bytea, previous_secret bytea,
    trusted boolean, slug text)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT h.url, h.secret, CASE WHEN h.previous_until > now() THEN h.previous_secret END, h.trusted,
      (SELECT o.slug FROM organizations o WHERE o.id = h.organization_id)
    FROM rebuild_hooks h WHERE h.target = wanted
  $$;

  CREATE FUNCTION list_rebuild_hooks() RETURNS TABLE (target text, url text, created_at timestamptz)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT h.target, h.url, h.created_at FROM rebuild_hooks h ORDER BY h.target
  $$;

  CREATE FUNCTION forget_previous_secrets() RETURNS void LANGUAGE sql ${AS_OWNER} AS $$
    UPDATE rebuild_hooks SET previous_secret = NULL, previous_until = NULL WHERE previous_until <= now();
    UPDATE webhook_endpoints SET previous_secret = NULL, previous_until = NULL WHERE previous_until <= now()
  $$;
`;
