import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** Whether a trigger runs for a statement of the application, not for the owner's functions or a superuser. */
const BY_APPLICATION = `row_security_active(TG_RELID)
          AND current_user <> (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID)`;

const ACCEPTED_HERE = ['members', 'parents']
  .map(
    (table) => `EXISTS (SELECT FROM ${table} v WHERE v.organization_id = current_organization_id()
      AND v.user_id = users.id AND v.accepted_at IS NOT NULL)`,
  )
  .join(' OR ');

/** An organization's own homework counts; another one's counts only where both people have accepted that one. */
const ACCEPTED_PAIR = `AND (organization_id = current_organization_id() OR NOT EXISTS (
                SELECT FROM unnest(ARRAY[tutor_id, student_id]) AS person WHERE NOT EXISTS (SELECT FROM members m
                  WHERE m.organization_id = tutor_students.organization_id AND m.user_id = person
                    AND m.accepted_at IS NOT NULL)))`;

const SESSION_HERE = `EXISTS (SELECT FROM session_students v
      WHERE v.organization_id = current_organization_id() AND v.student_id = results.student_id)`;
const MEMBER_ACCEPTED = `EXISTS (SELECT FROM members m
      WHERE m.organization_id = current_organization_id() AND m.user_id = results.student_id AND m.accepted_at IS NOT NULL)`;

const TRIGGERS = [
  'keep_acceptance', 'guard_acceptance', 'guard_address', 'forget_address', 'hide_unaccepted_results', 'follow_consent',
]; // prettier-ignore

/** Functions that the application calls, itself or through policies and triggers of its statements. */
const DOORS = [
  'tied_elsewhere', 'hold_ties_elsewhere', 'invite_by_hash', 'identity_of', 'set_first_password', 'take_login',
  'accept_ties', 'approve_member',
]; // prettier-ignore

/**
 * Identity: an address identifies a login. An organization sees the login only after its person has accepted.
 *
 * The database enforces the rules, so that no writer can forget them. Changing an address removes the login's
 * verification, password and open invites. An organization may change a login, or link one to itself as accepted, only
 * while no other organization is linked to it. Everything else goes through the functions below.
 */
export class Identity1763600000009 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      SELECT set_config('app.maintenance', 'on', true);

      ALTER TABLE users ADD COLUMN email_verified_at timestamptz(3);

      -- What opens a login. Behind functions: the application may not read or write it.
      CREATE TABLE credentials (
        user_id uuid PRIMARY KEY REFERENCES users,
        password_hash text,
        -- A session that is older is over.
        sessions_valid_from timestamptz(3) NOT NULL DEFAULT now()
      );

      -- accepted_at: since when the organization sees the login itself, not only what it supplied. Set with the status
      -- 'accepted', kept by an archived member, never there with 'pending'.
      ALTER TABLE parents ADD COLUMN accepted_at timestamptz(3);
      -- Joined as a tutor by a reusable code: pending until an owner or admin approves.
      ALTER TABLE members ADD COLUMN approval_requested_at timestamptz(3);
      UPDATE members SET accepted_at = CASE WHEN status <> 'pending' THEN coalesce(accepted_at, created_at) END
        WHERE status <> 'archived' OR accepted_at IS NOT NULL OR supplied_email IS NULL;
      UPDATE parents SET accepted_at = created_at
        WHERE status = 'accepted' OR (status = 'archived' AND supplied_email IS NULL);

      -- user_id: the login that had the address, when there was one. proof_hash: of the second secret, which is only ever
      -- mailed and so proves the address.
      ALTER TABLE invites ADD COLUMN user_id uuid REFERENCES users, ADD COLUMN proof_hash bytea
        CHECK (octet_length(proof_hash) = 32);
      CREATE INDEX invites_user ON invites (user_id) WHERE revoked_at IS NULL AND accepted_at IS NULL;
      UPDATE invites SET user_id = target_id WHERE scope = 'account';
      -- Codes are hashed with a key from here on, and nobody can hash again what is not known. There was no page to enter
      -- one at; the worker makes the standing ones anew.
      UPDATE invites SET revoked_at = now() WHERE revoked_at IS NULL AND accepted_at IS NULL
        AND (scope IN ('classroom', 'group', 'parent') OR (scope = 'organization' AND email IS NULL));

      -- The invite that a mail carries: no FOREIGN KEY, since either may be purged first.
      ALTER TABLE outbox ADD COLUMN invite_id uuid;
      DROP FUNCTION closed_invites;
      -- Of these invites those that open nothing any more.
      CREATE FUNCTION closed_invites(ids uuid[]) RETURNS SETOF uuid LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT wanted FROM unnest(ids) AS wanted WHERE NOT EXISTS (SELECT FROM invites i WHERE i.id = wanted
          AND i.revoked_at IS NULL AND i.accepted_at IS NULL AND (i.expires_at > now() OR i.standing))
      $$;
      DROP FUNCTION seen_elsewhere;
    `);
    await runner.query(ties);
    await runner.query(consent);
    await runner.query(doors);
    await runner.query(/* sql */ `
      ${homeworkOf(ACCEPTED_PAIR)}
      DROP POLICY tenant ON users;
      CREATE POLICY tenant ON users FOR SELECT USING (${ACCEPTED_HERE});
      CREATE POLICY tenant_adds ON users FOR INSERT WITH CHECK (current_organization_id() IS NOT NULL);
      CREATE POLICY tenant_changes ON users FOR UPDATE USING ((${ACCEPTED_HERE}) AND NOT tied_elsewhere(id));
      ALTER POLICY tenant ON results USING (${SESSION_HERE} AND ${MEMBER_ACCEPTED});
      REVOKE EXECUTE ON FUNCTION ${[...TRIGGERS, ...DOORS, 'closed_invites'].join(', ')} FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      DROP POLICY tenant ON users;
      DROP POLICY tenant_adds ON users;
      DROP POLICY tenant_changes ON users;
      CREATE POLICY tenant ON users USING (${['members', 'parents']
        .map(
          (table) => `EXISTS (SELECT FROM ${table} v
        WHERE v.organization_id = current_organization_id() AND v.user_id = users.id)`,
        )
        .concat(
          `EXISTS (SELECT FROM session_feedback v
        WHERE v.organization_id = current_organization_id() AND v.reviewer_id = users.id)`,
        )
        .join(' OR ')}) WITH CHECK (current_organization_id() IS NOT NULL);
      ALTER POLICY tenant ON results USING (${SESSION_HERE});
      ${homeworkOf('')}
      DROP FUNCTION ${[...TRIGGERS, ...DOORS, 'closed_invites'].join(', ')} CASCADE;
      CREATE FUNCTION seen_elsewhere(people uuid[]) RETURNS SETOF uuid LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT user_id FROM members WHERE user_id = ANY (people) AND status <> 'pending'
          AND organization_id <> current_organization_id()
        UNION
        SELECT user_id FROM parents WHERE user_id = ANY (people) AND status <> 'pending'
          AND organization_id <> current_organization_id()
      $$;
      CREATE FUNCTION closed_invites(hashes bytea[]) RETURNS SETOF bytea LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT secret_hash FROM invites WHERE secret_hash = ANY (hashes)
          AND (revoked_at IS NOT NULL OR accepted_at IS NOT NULL OR expires_at <= now())
      $$;
      REVOKE EXECUTE ON FUNCTION seen_elsewhere, closed_invites FROM PUBLIC;
      ALTER TABLE outbox DROP COLUMN invite_id;
      ALTER TABLE invites DROP COLUMN user_id, DROP COLUMN proof_hash;
      ALTER TABLE members DROP COLUMN approval_requested_at;
      ALTER TABLE parents DROP COLUMN accepted_at;
      DROP TABLE credentials;
      ALTER TABLE users DROP COLUMN email_verified_at;
    `);
  }
}

/** Links between logins and organizations, and their consequences for a login's address. */
const ties = /* sql */ `
      -- Any tie counts, pending and archived ones too: what an organization was told of a login must stay true.
      CREATE FUNCTION tied_elsewhere(login uuid) RETURNS boolean LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT EXISTS (SELECT FROM members WHERE user_id = login AND organization_id IS DISTINCT FROM current_organization_id())
          OR EXISTS (SELECT FROM parents WHERE user_id = login AND organization_id IS DISTINCT FROM current_organization_id())
      $$;

      -- Of these people those whom other organizations have a tie to. They are locked first: of two organizations at the
      -- same login, the later sees what the earlier did.
      CREATE FUNCTION hold_ties_elsewhere(people uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        PERFORM lock_people(people);
        RETURN QUERY SELECT person FROM unnest(people) AS person WHERE tied_elsewhere(person);
      END $$;

      CREATE FUNCTION guard_address() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.email_verified_at := NULL;
        IF ${BY_APPLICATION} AND EXISTS (SELECT FROM hold_ties_elsewhere(ARRAY[OLD.id])) THEN
          RAISE insufficient_privilege USING MESSAGE = 'this login is tied to another organization too';
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER guard_address BEFORE UPDATE ON users FOR EACH ROW
        WHEN (OLD.email_normalized IS DISTINCT FROM NEW.email_normalized) EXECUTE FUNCTION guard_address();

      -- Another address is another person: what the former one could open, or be invited with, ends.
      CREATE FUNCTION forget_address() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE credentials SET password_hash = NULL, sessions_valid_from = now() WHERE user_id = NEW.id;
        UPDATE invites SET revoked_at = now() WHERE user_id = NEW.id AND accepted_at IS NULL AND revoked_at IS NULL;
        RETURN NULL;
      END $$;
      CREATE TRIGGER forget_address AFTER UPDATE ON users FOR EACH ROW
        WHEN (OLD.email_normalized IS DISTINCT FROM NEW.email_normalized) EXECUTE FUNCTION forget_address();
    `;

/** What acceptance means, who may write it, and what it lets an organization see. */
const consent = /* sql */ `
      CREATE FUNCTION keep_acceptance() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.status = 'accepted' THEN
          NEW.accepted_at := coalesce(NEW.accepted_at, now());
        ELSIF NEW.status = 'pending' THEN
          NEW.accepted_at := NULL;
        END IF;
        RETURN NEW;
      END $$;

      -- The application ties somebody as accepted who is nobody else's, or has accepted here already; for all others
      -- their own consent is asked (accept_ties).
      CREATE FUNCTION guard_acceptance() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE people uuid[];
      BEGIN
        IF NOT (${BY_APPLICATION}) THEN
          RETURN NULL;
        END IF;
        IF TG_OP = 'INSERT' THEN
          people := ARRAY(SELECT user_id FROM after WHERE accepted_at IS NOT NULL);
        ELSE
          people := ARRAY(SELECT a.user_id FROM after a WHERE a.accepted_at IS NOT NULL AND NOT EXISTS (SELECT FROM before b
            WHERE b.organization_id = a.organization_id AND b.user_id = a.user_id AND b.accepted_at IS NOT NULL));
        END IF;
        IF cardinality(people) > 0 AND EXISTS (SELECT FROM hold_ties_elsewhere(people) AS person WHERE NOT EXISTS (
          SELECT FROM members WHERE organization_id = current_organization_id() AND user_id = person AND accepted_at < now()
          UNION ALL
          SELECT FROM parents WHERE organization_id = current_organization_id() AND user_id = person AND accepted_at < now()
        )) THEN
          RAISE insufficient_privilege USING MESSAGE = 'only this person can accept';
        END IF;
        RETURN NULL;
      END $$;

      -- Results are shown of students who have accepted.
      CREATE FUNCTION hide_unaccepted_results() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        IF EXISTS (SELECT FROM members WHERE organization_id = NEW.organization_id AND user_id = NEW.student_id
          AND accepted_at IS NOT NULL) THEN
          RETURN NEW;
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER hide_unaccepted BEFORE INSERT ON organization_results
        FOR EACH ROW EXECUTE FUNCTION hide_unaccepted_results();
      CREATE FUNCTION follow_consent() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE changed members[];
      BEGIN
        changed := ARRAY(SELECT a FROM after a JOIN before b USING (organization_id, user_id)
          WHERE (a.accepted_at IS NULL) <> (b.accepted_at IS NULL));
        IF cardinality(changed) = 0 THEN
          RETURN NULL;
        END IF;
        PERFORM lock_people(ARRAY(SELECT user_id FROM unnest(changed)));
        DELETE FROM organization_results r USING unnest(changed) c
          WHERE r.organization_id = c.organization_id AND r.student_id = c.user_id AND c.accepted_at IS NULL;
        INSERT INTO organization_results
          (organization_id, result_id, student_id, status, mode, completed_at, created_at)
        SELECT c.organization_id, r.id, r.student_id, r.status, r.mode, r.completed_at, r.created_at
        FROM unnest(changed) c
          JOIN session_students s ON s.organization_id = c.organization_id AND s.student_id = c.user_id
          JOIN results r ON r.student_id = c.user_id
        WHERE c.accepted_at IS NOT NULL ON CONFLICT DO NOTHING;
        RETURN NULL;
      END $$;
      CREATE TRIGGER follow_consent AFTER UPDATE ON members
        REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION follow_consent();
      DELETE FROM organization_results r USING members m
        WHERE m.organization_id = r.organization_id AND m.user_id = r.student_id AND m.accepted_at IS NULL;
      ${['members', 'parents']
        .map(
          (table) => `
      CREATE TRIGGER keep_acceptance BEFORE INSERT OR UPDATE OF status, accepted_at ON ${table}
        FOR EACH ROW EXECUTE FUNCTION keep_acceptance();
      CREATE TRIGGER guard_acceptance_on_insert AFTER INSERT ON ${table}
        REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION guard_acceptance();
      CREATE TRIGGER guard_acceptance_on_update AFTER UPDATE ON ${table}
        REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION guard_acceptance();`,
        )
        .join('')}
    `;

/** Functions for joining and signing in across organizations. Each does one thing and enforces its own rule. */
const doors = /* sql */ `
      -- Where an invite belongs; whoever asks knows its secret.
      CREATE FUNCTION invite_by_hash(hash bytea) RETURNS TABLE (id uuid, organization_id uuid)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT i.id, i.organization_id FROM invites i WHERE i.secret_hash = hash
      $$;

      -- A login by its address or its id; held, neither changes until the transaction ends.
      CREATE FUNCTION identity_of(address text, login uuid, hold boolean) RETURNS TABLE (id uuid, email text,
        email_normalized text, first_name text, last_name text, verified boolean, password_hash text, elsewhere boolean)
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        IF hold THEN
          PERFORM FROM users u WHERE u.email_normalized = address OR u.id = login ORDER BY u.id FOR NO KEY UPDATE;
        END IF;
        RETURN QUERY SELECT u.id, u.email, u.email_normalized, u.first_name, u.last_name, u.email_verified_at IS NOT NULL,
          c.password_hash, tied_elsewhere(u.id)
        FROM users u LEFT JOIN credentials c ON c.user_id = u.id
        WHERE NOT u.placeholder_email AND (u.email_normalized = address OR u.id = login);
      END $$;

      -- For a login that nobody has proven or used yet, and that no other organization knows of.
      CREATE FUNCTION set_first_password(login uuid, hash text) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        INSERT INTO credentials AS c (user_id, password_hash)
        SELECT u.id, hash FROM users u
        WHERE u.id = login AND u.email_verified_at IS NULL AND NOT tied_elsewhere(u.id)
        ON CONFLICT (user_id) DO UPDATE SET password_hash = hash, sessions_valid_from = now() WHERE c.password_hash IS NULL;
        RETURN FOUND;
      END $$;

      -- The address is proven. Whoever proves it without knowing the password takes the login over: what was signed in
      -- ends, and what was accepted before, by nobody knows whom, waits for the person in every organization but this one.
      CREATE FUNCTION take_login(login uuid, address text, hash text, same_person boolean) RETURNS boolean
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE users SET email_verified_at = coalesce(email_verified_at, now()) WHERE id = login AND email_normalized = address;
        IF NOT FOUND OR same_person THEN
          RETURN FOUND;
        END IF;
        INSERT INTO credentials (user_id, password_hash) VALUES (login, hash)
          ON CONFLICT (user_id) DO UPDATE SET password_hash = hash, sessions_valid_from = now();
        ${['members', 'parents']
          .map(
            (table) => `
        UPDATE ${table} t SET status = CASE t.status WHEN 'accepted' THEN 'pending' ELSE t.status END, accepted_at = NULL,
          supplied_first_name = u.first_name, supplied_last_name = u.last_name, supplied_email = u.email,
          supplied_phone = u.phone${table === 'members' ? ', approval_requested_at = NULL' : ''}
        FROM users u WHERE u.id = login AND t.user_id = u.id AND t.accepted_at IS NOT NULL
          AND t.organization_id IS DISTINCT FROM current_organization_id();`,
          )
          .join('')}
        UPDATE members SET approval_requested_at = NULL WHERE user_id = login AND approval_requested_at IS NOT NULL
          AND organization_id IS DISTINCT FROM current_organization_id();
        RETURN true;
      END $$;

      -- A person accepts the organization of this transaction, as member or as parent. A login whose address is not proven
      -- cannot, once another organization is tied to it; trusted: by the operator's word, or where no mail can be sent.
      CREATE FUNCTION accept_ties(login uuid, as_parent boolean, trusted boolean) RETURNS boolean
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
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
          UPDATE parents SET status = 'accepted' WHERE organization_id = here AND user_id = login AND status <> 'accepted';
        ELSE
          UPDATE members SET status = 'accepted', archived_at = NULL
          WHERE organization_id = here AND user_id = login AND status <> 'accepted' AND approval_requested_at IS NULL;
        END IF;
        RETURN true;
      END $$;

      -- The organization lets in a tutor who has asked for it.
      CREATE FUNCTION approve_member(login uuid) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE members SET status = 'accepted', approval_requested_at = NULL WHERE organization_id = current_organization_id()
          AND user_id = login AND status = 'pending' AND approval_requested_at IS NOT NULL;
        RETURN FOUND;
      END $$;
    `;

/** @param ofRelation an additional condition for the relation between tutor and student that determines ownership */
function homeworkOf(ofRelation: string): string {
  return /* sql */ `
      CREATE OR REPLACE FUNCTION derive_homework_organization() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE related uuid[];
      BEGIN
        NEW.organization_id := NULL;
        IF NEW.classroom_id IS NOT NULL THEN
          SELECT organization_id INTO NEW.organization_id FROM classrooms WHERE id = NEW.classroom_id;
        END IF;
        IF NEW.organization_id IS NULL AND NEW.group_id IS NOT NULL THEN
          SELECT organization_id INTO NEW.organization_id FROM student_groups WHERE id = NEW.group_id;
        END IF;
        IF NEW.organization_id IS NULL AND NEW.student_id IS NOT NULL THEN
          related := ARRAY(SELECT DISTINCT organization_id FROM tutor_students
            WHERE tutor_id = NEW.assigned_by AND student_id = NEW.student_id
              AND (status = 'active' OR archived_at > NEW.created_at)${ofRelation && `\n              ${ofRelation}`});
          IF cardinality(related) = 1 THEN
            NEW.organization_id := related[1];
          ELSIF current_organization_id() = ANY (related) THEN
            NEW.organization_id := current_organization_id();
          END IF;
        END IF;
        IF NEW.organization_id IS NULL THEN
          NEW.organization_id := only_organization_of(NEW.assigned_by);
        END IF;
        RETURN NEW;
      END $$;`;
}
