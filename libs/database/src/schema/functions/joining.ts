import { AS_OWNER } from '../rules.js';
import { LIVES_HERE } from './moves.js';

/** Whether somebody whose address was changed has yet to prove it: then they are let in when they do. */
const UNPROVEN = (tie: string) => `${tie}.readdressed_at IS NOT NULL
        AND NOT EXISTS (SELECT FROM users u WHERE u.id = ${tie}.user_id AND u.email_verified_at IS NOT NULL)`;

/** Whether somebody waits because a key changed their address, or has never proved it since a manager approved. */
export const CORRECTABLE = (tie: string) => `${tie}.status = 'pending' AND ${tie}.frozen_at IS NOT NULL
        AND (${tie}.readdressed_at IS NOT NULL OR NOT is_established(${tie}.user_id))`;

/** Joining organizations: invites, consent and approval. Each function does one thing and enforces its own rule. */
export const joining = /* sql */ `
  -- A person accepts the organization of this transaction, as member or as parent. A login with an unverified address
  -- cannot, once another organization is tied to it. trusted: by the operator's word, or where no mail can be sent.
  CREATE FUNCTION accept_ties(login uuid, as_parent boolean, trusted boolean) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE here uuid := current_organization_id();
  BEGIN
    PERFORM lock_people(ARRAY[login]);
    IF NOT trusted AND tied_elsewhere(login)
      AND NOT EXISTS (SELECT FROM users WHERE id = login AND email_verified_at IS NOT NULL)
      AND NOT EXISTS (SELECT FROM members WHERE organization_id = here AND user_id = login AND status = 'accepted'
        UNION ALL SELECT FROM parents WHERE organization_id = here AND user_id = login AND status = 'accepted') THEN
      RETURN false;
    END IF;
    IF as_parent THEN
      UPDATE parents SET status = 'accepted' WHERE organization_id = here AND user_id = login AND status <> 'accepted'
        AND readdressed_at IS NULL;
    ELSE
      UPDATE members SET status = 'accepted', archived_at = NULL
      WHERE organization_id = here AND user_id = login AND status <> 'accepted' AND approval_requested_at IS NULL
        AND readdressed_at IS NULL;
    END IF;
    RETURN true;
  END $$;

  -- The opposite of accept_ties: the person does not want to belong to the organization of this transaction. The last
  -- owner, whose membership waits since somebody took the login over, stays.
  CREATE FUNCTION decline_ties(login uuid, as_parent boolean) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE here uuid := current_organization_id();
  BEGIN
    PERFORM lock_people(ARRAY[login]);
    IF as_parent THEN
      UPDATE parents SET status = 'archived', refused_at = coalesce(refused_at, now())
        WHERE organization_id = here AND user_id = login AND status = 'pending';
    ELSE
      UPDATE members SET status = 'archived', archived_at = now(), refused_at = coalesce(refused_at, now())
        WHERE organization_id = here AND user_id = login AND status = 'pending' AND approval_requested_at IS NULL
          AND (role <> 'owner' OR other_owner_signs_in(login));
    END IF;
    RETURN FOUND;
  END $$;

  -- The offers that wait for the answer of this session's person; none if the address is unverified.
  -- children: the first names of those whom a parent would see.
  CREATE FUNCTION membership_offers(secret bytea) RETURNS TABLE (organization_id uuid, organization text, role text,
    as_parent boolean, children text[], contact json)
    LANGUAGE sql ${AS_OWNER} AS $$
    SELECT o.id, o.name, t.role, t.as_parent, ARRAY(SELECT coalesce(CASE WHEN m.accepted_at IS NULL
          THEN m.supplied_first_name ELSE u.first_name END, '')
        FROM parent_students l JOIN members m ON m.organization_id = l.organization_id AND m.user_id = l.student_id
        JOIN users u ON u.id = m.user_id
        WHERE t.as_parent AND l.organization_id = o.id AND l.parent_id = s.user_id ORDER BY 1 LIMIT 20), contact_of(o)
    FROM portal_session(secret) s,
      LATERAL (SELECT m.organization_id, m.role, false AS as_parent FROM members m
          WHERE m.user_id = s.user_id AND m.status = 'pending' AND m.approval_requested_at IS NULL
        UNION ALL SELECT p.organization_id, 'parent', true FROM parents p
          WHERE p.user_id = s.user_id AND p.status = 'pending' AND p.enrolled_at IS NOT NULL AND p.readdressed_at IS NULL) t
      JOIN organizations o ON o.id = t.organization_id
    WHERE s.verified ORDER BY o.name, o.id, t.as_parent LIMIT 100
  $$;

  -- The organizations that this session's person belonged to and no longer does.
  CREATE FUNCTION former_memberships(secret bytea) RETURNS TABLE (organization text) LANGUAGE sql ${AS_OWNER} AS $$
    SELECT DISTINCT o.name FROM portal_session(secret) s,
      LATERAL (SELECT m.organization_id FROM members m
          WHERE m.user_id = s.user_id AND m.status = 'archived' AND m.frozen_at IS NOT NULL
        UNION ALL SELECT p.organization_id FROM parents p
          WHERE p.user_id = s.user_id AND p.status = 'archived' AND p.frozen_at IS NOT NULL) t
      JOIN organizations o ON o.id = t.organization_id ORDER BY o.name LIMIT 20
  $$;

  -- The organizations where this session's person has joined by a code and nobody has decided yet. children: the first names
  -- of those whom a parent asks for, as the page of their code showed them.
  CREATE FUNCTION waiting_memberships(secret bytea) RETURNS TABLE (organization_id uuid, organization text, role text,
    since timestamptz, time_zone text, readdressed boolean, children text[], contact json) LANGUAGE sql ${AS_OWNER} AS $$
    SELECT o.id, o.name, t.role, t.since, o.time_zone, t.readdressed, t.children, contact_of(o) FROM portal_session(secret) s,
      LATERAL (SELECT m.organization_id, m.role, m.approval_requested_at AS since, m.readdressed_at IS NOT NULL AS readdressed,
            ARRAY[]::text[] AS children
          FROM members m WHERE m.user_id = s.user_id AND m.status = 'pending' AND m.approval_requested_at IS NOT NULL
        UNION ALL SELECT p.organization_id, 'parent', p.readdressed_at, true, ARRAY[]::text[] FROM parents p
          WHERE p.user_id = s.user_id AND p.status = 'pending' AND p.readdressed_at IS NOT NULL
        UNION ALL SELECT j.organization_id, 'parent', min(j.joined_at), false,
            array_remove(array_agg(DISTINCT CASE WHEN m.accepted_at IS NULL THEN m.supplied_first_name ELSE u.first_name END), NULL)
          FROM joins j JOIN invites i ON i.organization_id = j.organization_id AND i.id = j.invite_id
          LEFT JOIN members m ON m.organization_id = i.organization_id AND m.user_id = i.target_id AND m.status <> 'archived'
          LEFT JOIN users u ON u.id = m.user_id
          WHERE j.user_id = s.user_id AND j.approval = 'waiting' AND i.role = 'parent' GROUP BY 1) t
      JOIN organizations o ON o.id = t.organization_id ORDER BY o.name, t.role LIMIT 20
  $$;

  -- Whether another owner of the organization of this transaction can sign in.
  CREATE FUNCTION other_owner_signs_in(login uuid) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT EXISTS (SELECT FROM members WHERE organization_id = current_organization_id() AND user_id <> login
      AND role = 'owner' AND status = 'accepted' AND is_used(user_id))
  $$;

  -- A person who leaves the organization of this transaction leaves its conversations, but not those with somebody who
  -- shares another organization with them.
  CREATE FUNCTION leave_conversations(logins uuid[]) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE here uuid := current_organization_id();
  BEGIN
    PERFORM lock_people(logins);
    UPDATE conversation_participants p SET left_at = now() WHERE p.user_id = ANY (logins) AND p.left_at IS NULL
      AND EXISTS (SELECT FROM organization_conversations v
        WHERE v.organization_id = here AND v.conversation_id = p.conversation_id)
      AND NOT (SELECT coalesce(bool_or((SELECT bool_or(shared <> here AND shared = ANY (m.seen_by))
          FROM users m, users t, unnest(t.seen_by) AS shared WHERE m.id = p.user_id AND t.id = o.user_id)), false)
        FROM conversation_participants o
        WHERE o.conversation_id = p.conversation_id AND o.user_id <> p.user_id AND o.left_at IS NULL);
  END $$;

  -- An API key has given a login of this organization another address, or none. Whoever has it now waits, as member and as
  -- parent, for a proof and a manager.
  CREATE FUNCTION await_address(login uuid, former text) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    here uuid := current_organization_id();
    address text := (SELECT email FROM users WHERE id = login AND NOT placeholder_email);
  BEGIN
    PERFORM lock_people(ARRAY[login]);
    UPDATE members SET readdressed_at = now(), readdressed_from = coalesce(readdressed_from, former), supplied_email = CASE status WHEN 'pending' THEN address ELSE supplied_email END,
      status = CASE WHEN address IS NULL THEN status ELSE 'pending' END,
      approval_requested_at = CASE WHEN address IS NOT NULL THEN now() END
    WHERE organization_id = here AND user_id = login AND (status = 'accepted' OR status = 'pending' AND frozen_at IS NOT NULL);
    UPDATE parents SET readdressed_at = now(), readdressed_from = coalesce(readdressed_from, former), supplied_email = CASE status WHEN 'pending' THEN address ELSE supplied_email END,
      status = CASE WHEN address IS NULL THEN status ELSE 'pending' END
    WHERE organization_id = here AND user_id = login AND (status = 'accepted' OR status = 'pending' AND frozen_at IS NOT NULL);
  END $$;

  -- A key corrects the address that one gave to somebody who waits since. False if nobody here waits so, or another
  -- organization knows the login.
  CREATE FUNCTION correct_address(login uuid, address text, normalized text, placeholder boolean) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE here uuid := current_organization_id();
  BEGIN
    PERFORM hold_ties_elsewhere(ARRAY[login]);
    IF kept_elsewhere(login, true) OR NOT EXISTS (
      SELECT FROM members t WHERE organization_id = here AND user_id = login AND ${CORRECTABLE('t')}
      UNION ALL SELECT FROM parents t WHERE organization_id = here AND user_id = login AND ${CORRECTABLE('t')}) THEN
      RETURN false;
    END IF;
    UPDATE users SET email = address, email_normalized = normalized, placeholder_email = placeholder, updated_at = now()
    WHERE id = login;
    PERFORM await_address(login, NULL);
    RETURN true;
  END $$;

  -- The organization approves somebody who waits.
  -- The lock: somebody who proves the address at the same time comes before or after, never in between.
  CREATE FUNCTION approve_member(login uuid) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    PERFORM lock_people(ARRAY[login]);
    UPDATE members m SET status = CASE WHEN ${UNPROVEN('m')} THEN 'pending' ELSE 'accepted' END, approval_requested_at = NULL,
      readdressed_at = NULL, readdressed_from = NULL
    WHERE organization_id = current_organization_id()
      AND user_id = login AND status = 'pending' AND approval_requested_at IS NOT NULL;
    RETURN FOUND;
  END $$;

  -- The same for a parent. False if no child waits for them.
  CREATE FUNCTION approve_parent(login uuid) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE here uuid := current_organization_id();
  BEGIN
    PERFORM lock_people(ARRAY[login]);
    UPDATE parents p SET status = CASE WHEN ${UNPROVEN('p')} THEN 'pending' ELSE 'accepted' END, readdressed_at = NULL,
      readdressed_from = NULL
    WHERE organization_id = here AND user_id = login AND status = 'pending' AND readdressed_at IS NOT NULL;
    IF FOUND THEN
      RETURN true;
    END IF;
    IF NOT EXISTS (SELECT FROM joins j JOIN invites i ON i.organization_id = j.organization_id AND i.id = j.invite_id
      WHERE j.organization_id = here AND j.user_id = login AND j.approval = 'waiting' AND i.role = 'parent') THEN
      RETURN false;
    END IF;
    UPDATE parents SET status = 'accepted' WHERE organization_id = here AND user_id = login AND status = 'pending';
    RETURN true;
  END $$;

  -- Somebody who proves the address of a login that nobody has used has not accepted anything with it: links that
  -- organizations have made wait for the person. Owners are made by the operator.
  CREATE FUNCTION await_consent() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    -- The operator's word changes nothing else.
    IF is_used(NEW.id) OR pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
      RETURN NULL;
    END IF;
    UPDATE members SET status = 'pending' WHERE user_id = NEW.id AND accepted_at IS NOT NULL AND role <> 'owner'
      AND organization_id IS DISTINCT FROM current_organization_id();
    UPDATE parents SET status = 'pending' WHERE user_id = NEW.id AND accepted_at IS NOT NULL
      AND organization_id IS DISTINCT FROM current_organization_id();
    RETURN NULL;
  END $$;

  -- The organization of an invite, for whoever knows its secret. closed: it opens nothing any more. A closed code gets the
  -- answer of an unknown one, without another look-up.
  CREATE FUNCTION invite_by_hash(hash bytea) RETURNS TABLE (id uuid, organization_id uuid, closed boolean)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT i.id, i.organization_id,
      i.revoked_at IS NOT NULL OR i.accepted_at IS NOT NULL OR coalesce(i.expires_at <= now(), false)
    FROM invites i WHERE i.secret_hash = hash
  $$;

  -- Those of these invites that open nothing any more.
  CREATE FUNCTION closed_invites(ids uuid[]) RETURNS SETOF uuid LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT wanted FROM unnest(ids) AS wanted WHERE NOT EXISTS (SELECT FROM invites i WHERE i.id = wanted
      AND i.revoked_at IS NULL AND i.accepted_at IS NULL AND (i.expires_at > now() OR i.standing))
  $$;

  -- Organizations that lack one of the two standing join codes, and have not switched it off.
  CREATE FUNCTION organizations_without_codes(most integer) RETURNS SETOF uuid LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT o.id FROM organizations o WHERE (SELECT count(*) FROM invites i
      WHERE i.organization_id = o.id AND i.standing AND (i.revoked_at IS NULL OR i.switched_off)) < 2 AND ${LIVES_HERE('o.id')} LIMIT least(most, 1000)
  $$;
`;
