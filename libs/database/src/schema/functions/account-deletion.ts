import { AS_OWNER } from '../rules.js';
import { LIVES_HERE } from './moves.js';

/** Deleting one's own account. */
export const accountDeletion = /* sql */ `
  -- What ties somebody to organizations, ended ties too. belongs: what has to end first; held: an owner keeps what is known of
  -- them; alone: nobody else owns the organization who can sign in.
  CREATE FUNCTION ties_of(login uuid) RETURNS TABLE (organization_id uuid, organization text, role text, belongs boolean,
    held boolean, alone boolean) LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT o.id, o.name, (array_agg(t.role ORDER BY t.belongs DESC, t.place))[1], bool_or(t.belongs),
      EXISTS (SELECT FROM holds h WHERE h.organization_id = o.id AND h.user_id = login),
      bool_or(t.role = 'owner' AND t.accepted) AND NOT EXISTS (SELECT FROM members x WHERE x.organization_id = o.id
        AND x.user_id <> login AND x.role = 'owner' AND x.status = 'accepted' AND is_used(x.user_id))
    FROM (SELECT m.organization_id, m.role, m.status <> 'archived' AS belongs, m.status = 'accepted' AS accepted, 1 AS place
        FROM members m WHERE m.user_id = login
      UNION ALL SELECT p.organization_id, 'parent', p.status <> 'archived', p.status = 'accepted', 2 FROM parents p
        WHERE p.user_id = login) t
    JOIN organizations o ON o.id = t.organization_id GROUP BY o.id, o.name
  $$;

  -- An audit row in each organization that somebody belongs to.
  CREATE FUNCTION audit_own(login uuid, what text, request text) RETURNS void LANGUAGE sql ${AS_OWNER} AS $$
    INSERT INTO audit_log (id, organization_id, user_id, operation, request_id, status, result, details)
    SELECT gen_random_uuid(), t.organization_id, login, what, request, 200, 'done', json_build_object('user_id', login)
    FROM ties_of(login) t WHERE t.belongs
  $$;

  CREATE FUNCTION account_deletion(secret bytea) RETURNS TABLE (due timestamptz, ties json) LANGUAGE sql ${AS_OWNER} AS $$
    SELECT (SELECT d.due_at FROM account_deletions d WHERE d.user_id = s.user_id),
      (SELECT coalesce(json_agg(t ORDER BY t.organization, t.organization_id), '[]') FROM ties_of(s.user_id) t)
    FROM portal_session(secret) s
  $$;

  -- Notes the wish of this session's person. Not of the only owner of an organization. No row if it was noted before.
  CREATE FUNCTION ask_account_deletion(secret bytea, days integer, request text) RETURNS TABLE (login uuid)
    LANGUAGE plpgsql ROWS 1 ${AS_OWNER} AS $$
  BEGIN
    login := (SELECT s.user_id FROM portal_session(secret) s);
    PERFORM lock_people(ARRAY[login]);
    INSERT INTO account_deletions (user_id, due_at) SELECT login, now() + days * interval '1 day'
      WHERE login IS NOT NULL AND NOT EXISTS (SELECT FROM ties_of(login) t WHERE t.alone) ON CONFLICT DO NOTHING;
    IF FOUND THEN
      PERFORM audit_own(login, 'ask account deletion', request);
      RETURN NEXT;
    END IF;
  END $$;

  -- False if there was nothing to call off, or it has begun.
  CREATE FUNCTION call_off_account_deletion(secret bytea, request text) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE login uuid := (SELECT s.user_id FROM portal_session(secret) s);
  BEGIN
    DELETE FROM account_deletions d WHERE d.user_id = login AND d.due_at > now()::timestamptz(3);
    IF FOUND THEN
      PERFORM audit_own(login, 'call off account deletion', request);
      RETURN true;
    END IF;
    RETURN false;
  END $$;

  -- Where those whose days are over still belong, or are to be erased now.
  CREATE FUNCTION due_account_deletions(most integer) RETURNS TABLE (user_id uuid, organization_id uuid) LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT d.user_id, t.organization_id FROM account_deletions d CROSS JOIN LATERAL ties_of(d.user_id) t
    WHERE d.due_at <= now()::timestamptz(3) AND ${LIVES_HERE('t.organization_id')} AND NOT t.alone AND (t.belongs OR NOT t.held AND NOT EXISTS (SELECT FROM erasures e
      WHERE e.organization_id = t.organization_id AND e.person_id = d.user_id AND e.due_at <= now()::timestamptz(3)))
    ORDER BY d.due_at, d.user_id LIMIT most
  $$;
`;
