import { AS_OWNER } from '../rules.js';
import { LIVES_HERE } from './moves.js';

const INSERT_REQUESTS = /* sql */ `INSERT INTO request_log
      (id, organization_id, api_key_id, method, route, status, duration_ms, request_id, created_at)
    SELECT r.id, k.organization_id, k.id, r.method, r.route, r.status, r.ms, r.request_id, to_timestamp(r.at / 1000)
    FROM unnest(ids, key_ids, methods, routes, statuses, durations, request_ids, times)
      AS r (id, key_id, method, route, status, ms, request_id, at)
    JOIN api_keys k ON k.id = r.key_id`;

/** Organizations, their API keys and the log of requests. */
export const account = /* sql */ `
  -- The organization that the running transaction reads and writes for. After a rollback the setting is the empty string,
  -- not null, hence nullif. Inlined by the planner, so index conditions can use it.
  CREATE FUNCTION current_organization_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('app.organization_id', true), '')::uuid;

  -- Functions that depend on each other's rows first lock the rows that concern both, in the order of their ids: people
  -- (rows of users), then conversations; for enrolment, parents. Under READ COMMITTED, the later of two concurrent writers
  -- then sees what the earlier one committed. A function that has nothing to derive locks nothing.
  CREATE FUNCTION lock_people(ids uuid[]) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    PERFORM 1 FROM users WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  END $$;

  CREATE FUNCTION organization_by_slug(wanted text) RETURNS uuid LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT id FROM organizations WHERE slug = wanted
  $$;

  -- How to reach an organization, as people see it.
  CREATE FUNCTION contact_of(o organizations) RETURNS json LANGUAGE sql IMMUTABLE
    RETURN json_build_object('appUrl', o.app_url, 'postalAddress', o.postal_address, 'phone', o.phone,
      'privacyUrl', o.privacy_url);

  -- The recipients of the organization's own notices, and what these say about it.
  CREATE FUNCTION organization_administrators() RETURNS TABLE (user_id uuid, email text, first_name text,
    last_name text, organization_name text, organization_slug text, time_zone text, role text)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT u.id, u.email, u.first_name, u.last_name, o.name, o.slug, o.time_zone, m.role
    FROM organizations o JOIN members m ON m.organization_id = o.id JOIN users u ON u.id = m.user_id
    WHERE o.id = current_organization_id() AND m.role IN ('owner', 'admin') AND m.status = 'accepted'
      AND NOT u.placeholder_email
    ORDER BY u.id
  $$;

  -- Records what somebody did with their own account in the organizations that they manage, and in no others: to these a
  -- person's sign-ins are no business. Not for the operator who removes data.
  CREATE FUNCTION audit_login(login uuid, what text, from_network text) RETURNS void LANGUAGE sql ${AS_OWNER} AS $$
    INSERT INTO audit_log (id, organization_id, user_id, operation, request_id, status, result, network)
    SELECT gen_random_uuid(), m.organization_id, login, what, 'portal', 200, 'done', from_network FROM members m
    WHERE m.user_id = login AND m.role IN ('owner', 'admin') AND m.status = 'accepted'
      AND current_setting('app.maintenance', true) IS DISTINCT FROM 'on'
  $$;

  -- Whichever function changes them.
  CREATE FUNCTION audit_credential() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF current_setting('app.untold', true) = 'on' THEN RETURN NULL; END IF;
    PERFORM audit_login(CASE TG_OP WHEN 'DELETE' THEN OLD.user_id ELSE NEW.user_id END, TG_ARGV[0], NULL);
    RETURN NULL;
  END $$;

  -- Before a key is known there is no organization to name: this look-up is all that is possible then.
  CREATE FUNCTION api_key_by_hash(hash bytea) RETURNS TABLE (id uuid, scopes text[], platform_blog boolean,
    expired boolean, revoked boolean, used_this_minute boolean, organization_id uuid, organization_name text,
    organization_slug text, time_zone text, currency text, state text, moved_to text)
    LANGUAGE plpgsql STABLE ROWS 1 ${AS_OWNER} AS $$
  BEGIN
    -- plpgsql, not sql: it keeps its plan between calls, and this runs once per request.
    RETURN QUERY SELECT k.id, k.scopes, k.platform_blog, coalesce(k.expires_at <= now(), false),
      k.revoked_at IS NOT NULL, coalesce(k.last_used_at >= date_trunc('minute', now()), false),
      o.id, o.name, o.slug, o.time_zone, o.currency, m.state, m.moved_to
    FROM api_keys k JOIN organizations o ON o.id = k.organization_id LEFT JOIN moves m ON m.organization_id = o.id WHERE k.key_hash = hash;
  END $$;

  CREATE FUNCTION organization_of_api_key(key_id uuid) RETURNS uuid LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT organization_id FROM api_keys WHERE id = key_id
  $$;

  -- Whoever writes, the owner included: what a key gives access to never changes, and its expiry can only be brought
  -- forward.
  CREATE FUNCTION keep_api_key() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (NEW.id, NEW.organization_id, NEW.key_hash, NEW.scopes, NEW.platform_blog, NEW.created_at)
      IS DISTINCT FROM (OLD.id, OLD.organization_id, OLD.key_hash, OLD.scopes, OLD.platform_blog, OLD.created_at) THEN
      RAISE insufficient_privilege USING MESSAGE = 'what an API key opens cannot be changed';
    END IF;
    IF NEW.revoked_at IS DISTINCT FROM OLD.revoked_at AND OLD.revoked_at IS NOT NULL
      OR coalesce(NEW.expires_at, 'infinity') > coalesce(OLD.expires_at, 'infinity') THEN
      RAISE insufficient_privilege USING MESSAGE = 'the end of an API key cannot be put off';
    END IF;
    RETURN NEW;
  END $$;

  -- Keys whose next warning is due: the nearest of 14 and 3 days that has begun, unless it was mailed, or had begun
  -- already when the expiry was set.
  CREATE FUNCTION expiring_api_keys(most integer) RETURNS TABLE (id uuid, organization_id uuid, days integer)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT k.id, k.organization_id, w.days FROM api_keys k,
      LATERAL (SELECT min(d) AS days FROM unnest(ARRAY[3, 14]) AS d
        WHERE k.expires_at <= now() + d * interval '1 day') w
    WHERE k.revoked_at IS NULL AND k.expires_at > now() AND k.expires_at <= now() + interval '14 days'
      AND coalesce(k.expiry_warned_days, 15) > w.days
      AND greatest(k.created_at, k.replaced_at) < k.expires_at - w.days * interval '1 day' AND ${LIVES_HERE('k.organization_id')}
    ORDER BY k.expires_at LIMIT least(most, 1000)
  $$;

  CREATE FUNCTION purge_api_key_handovers() RETURNS void LANGUAGE sql ${AS_OWNER} AS $$
    DELETE FROM api_key_handovers WHERE expires_at <= now()
  $$;

  -- Requests of several organizations at once. The organization of a row is its key's, whatever the caller says. Measured
  -- with 2,500 rows at once, CPU for each row: arrays instead of JSON take 9.1 to 7.6 µs, and a plain INSERT, which writes
  -- a row once instead of speculatively, to 5.7 µs. Only a batch that was stored before needs ON CONFLICT.
  CREATE FUNCTION log_requests(ids uuid[], key_ids uuid[], methods text[], routes text[], statuses integer[],
    durations double precision[], request_ids text[], times double precision[]) RETURNS void
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    ${INSERT_REQUESTS};
  EXCEPTION WHEN unique_violation THEN
    ${INSERT_REQUESTS} ON CONFLICT DO NOTHING;
  END $$;

  -- Keeps these days, and of those about the newest 100,000 rows of each organization (some 40 MB): a batch of organizations
  -- whose ids are greater, 20,000 rows at most. next is where the next call begins; null after the last organization.
  CREATE FUNCTION trim_request_log(beyond uuid, days integer) RETURNS TABLE (next uuid, rows bigint) LANGUAGE sql ${AS_OWNER} AS $$
    WITH batch AS MATERIALIZED (
        SELECT id FROM organizations WHERE id > beyond ORDER BY id LIMIT 20),
      kept AS MATERIALIZED (
        SELECT b.id, greatest(now() - greatest(days, 1) * interval '1 day', (SELECT r.created_at FROM request_log r
          WHERE r.organization_id = b.id ORDER BY r.created_at DESC, r.id DESC OFFSET 100000 LIMIT 1)) AS since
        FROM batch b),
      trimmed AS (DELETE FROM request_log WHERE ctid = ANY (ARRAY(
        SELECT old.row FROM kept k CROSS JOIN LATERAL (SELECT r.ctid AS row FROM request_log r
          WHERE r.organization_id = k.id AND r.created_at <= k.since LIMIT 20000) old LIMIT 20000)) RETURNING 1)
    SELECT CASE WHEN count(*) = 20000 THEN beyond ELSE (SELECT b.id FROM batch b ORDER BY b.id DESC LIMIT 1) END,
      count(*) FROM trimmed
  $$;

  -- Changes the names of whoever has this session, with an audit row in each organization that shows them: those that the
  -- person has accepted. The others go on showing what they supplied. False when the session is over.
  CREATE FUNCTION change_name(secret bytea, first text, last text, request text) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE login uuid := (SELECT s.user_id FROM portal_session(secret) s);
  BEGIN
    UPDATE users u SET first_name = first, last_name = last
      WHERE u.id = login AND (u.first_name, u.last_name) IS DISTINCT FROM (first, last);
    IF FOUND THEN
      INSERT INTO audit_log (id, organization_id, user_id, operation, request_id, status, result, details)
        SELECT gen_random_uuid(), t.organization_id, login, 'change_name', request, 200, 'done',
          json_build_object('user_id', login)
        FROM (SELECT m.organization_id FROM members m WHERE m.user_id = login AND m.status = 'accepted'
          UNION SELECT p.organization_id FROM parents p WHERE p.user_id = login AND p.status = 'accepted') t;
    END IF;
    RETURN login IS NOT NULL;
  END $$;

  -- Whether somebody who belongs to this organization has shown that they read the mail of their address.
  CREATE FUNCTION reads_mail(person uuid) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT EXISTS (SELECT FROM users u WHERE u.id = person AND u.email_verified_at IS NOT NULL
      AND current_organization_id() = ANY (u.seen_by))
  $$;
`;
