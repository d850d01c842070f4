import { AS_OWNER } from '../rules.js';

/** SQLSTATEs of what an organization refuses that is paused or arriving, and that has moved (with its new home as the detail). */
export const AWAY = { notNow: 'MV503', moved: 'MV421' } as const;

/**
 * The number of the lock of an organization's home, as SQL: whoever writes shares it, whoever moves it has it alone.
 *
 * @param organization SQL for the id, as text
 */
export const homeLock = (organization: string): string =>
  `('x' || left(encode(sha256(convert_to('home of ' || ${organization}, 'UTF8')), 'hex'), 16))::bit(64)::bigint`;

/** SQL: nothing is sent, published or made for an organization that does not live here. */
export const LIVES_HERE = (organization: string): string =>
  `NOT EXISTS (SELECT FROM moves x WHERE x.organization_id = ${organization} AND x.state <> 'live')`;

/** As plpgsql: refuses, as the variables `state` and `moved_to` say. */
const REFUSE = `
    IF state = 'moved' THEN
      RAISE 'the organization has moved' USING ERRCODE = '${AWAY.moved}', DETAIL = moved_to;
    END IF;
    RAISE 'the organization is being moved' USING ERRCODE = '${AWAY.notNow}';`;

/** What keeps an organization at one home. */
export const moves = /* sql */ `
  -- Part of the first statement of every transaction of an organization. Whoever writes shares the lock until the end, and does
  -- not wait for it: only a move has it alone. The look into the table comes after it, in a statement of its own, so that it sees
  -- what was committed before.
  CREATE FUNCTION enter_home(writes boolean) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE state text; moved_to text; free boolean := true;
  BEGIN
    IF writes THEN free := pg_try_advisory_xact_lock_shared(${homeLock(`coalesce(current_setting('app.organization_id', true), '')`)}); END IF;
    SELECT m.state, m.moved_to INTO state, moved_to FROM moves m WHERE m.organization_id = current_organization_id();
    IF free AND (coalesce(state, 'live') = 'live' OR (state = 'paused' AND NOT writes)) THEN RETURN; END IF;
    ${REFUSE}
  END $$;

  -- Logins belong to people, and go along with the last organization that they belong to: while one of somebody's organizations is
  -- being moved, and once all have moved, the login stays as it is.
  CREATE FUNCTION keep_login() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE state text; home text; moved_to text; login uuid; tie uuid; ties integer := 0; gone integer := 0;
  BEGIN
    login := coalesce(to_jsonb(NEW), to_jsonb(OLD)) ->> TG_ARGV[0];
    FOR tie IN SELECT organization_id FROM members WHERE user_id = login AND organization_id IS NOT NULL
      UNION SELECT organization_id FROM parents WHERE user_id = login ORDER BY 1
    LOOP
      ties := ties + 1;
      IF NOT pg_try_advisory_xact_lock_shared(${homeLock('tie::text')}) THEN state := 'paused'; ${REFUSE} END IF;
      SELECT m.state, m.moved_to INTO state, home FROM moves m WHERE m.organization_id = tie;
      IF state = 'moved' THEN gone := gone + 1; moved_to := home;
      ELSIF state <> 'live' THEN ${REFUSE} END IF;
    END LOOP;
    IF ties > 0 AND gone = ties THEN state := 'moved'; ${REFUSE} END IF;
    RETURN coalesce(NEW, OLD);
  END $$;
`;
