import type { MigrationInterface, QueryRunner } from 'typeorm';

const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** True inside those functions, and if the owner turns it on for a dump or a manual correction. */
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;
const MINE = `organization_id = current_organization_id()`;

/** Tables whose organization column is never null. */
const OWNED = [
  'members', 'subjects', 'tutor_profiles', 'tutor_subjects', 'tutor_students', 'parents', 'parent_students', 'classrooms',
  'classroom_members', 'sessions', 'session_participants', 'adjustments', 'invoices', 'invoice_lines', 'payments',
  'mileage_trips', 'expense_claims', 'session_students', 'organization_results', 'organization_conversations', 'api_keys',
]; // prettier-ignore

/** Tables whose organization is derived and may stay null. Such rows can be written, but nobody sees them. */
const DERIVED = ['homework', 'session_feedback', 'student_groups'];

/**
 * Tables without an organization column. A row is visible (`using`) through a table that has one. A row may be added
 * (`check`) to a record that this organization sees or nobody sees yet, and a result for one of its own members.
 */
const SEEN_THROUGH: Record<string, { using: string; check: string }> = {
  results: {
    // Through the student rather than organization_results: a result that was just inserted can be returned.
    using: `EXISTS (SELECT FROM session_students v
      WHERE v.organization_id = current_organization_id() AND v.student_id = results.student_id)`,
    check: `EXISTS (SELECT FROM members v
      WHERE v.organization_id = current_organization_id() AND v.user_id = results.student_id)`,
  },
  conversations: { using: seenConversation('conversations.id'), check: 'current_organization_id() IS NOT NULL' },
  conversation_participants: throughConversation('conversation_participants.conversation_id'),
  messages: throughConversation('messages.conversation_id'),
  // A login is visible to the person's organizations, as member, parent or reviewer. Any organization may add one.
  users: {
    using: ['members', 'parents']
      .map(
        (table) => `EXISTS (SELECT FROM ${table} v
        WHERE v.organization_id = current_organization_id() AND v.user_id = users.id)`,
      )
      .concat(
        `EXISTS (SELECT FROM session_feedback v
        WHERE v.organization_id = current_organization_id() AND v.reviewer_id = users.id)`,
      )
      .join(' OR '),
    check: 'current_organization_id() IS NOT NULL',
  },
  student_group_members: {
    using: 'EXISTS (SELECT FROM student_groups v WHERE v.id = student_group_members.group_id)',
    check: 'NOT group_of_others(group_id)',
  },
};

function throughConversation(id: string): { using: string; check: string } {
  return { using: seenConversation(id), check: `NOT conversation_of_others(${id})` };
}

function seenConversation(id: string): string {
  return `EXISTS (SELECT FROM organization_conversations v
    WHERE v.organization_id = current_organization_id() AND v.conversation_id = ${id})`;
}

/**
 * The second safeguard: even if a query forgets its condition, the application's role sees only rows of the
 * organization that the transaction names. FORCE makes this apply to the owner, too. Only the owner has the policy that
 * lets the schema's functions see everything.
 */
export class RowSecurity1763600000006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const policies: Record<string, { using: string; check: string }> = {
      organizations: { using: 'id = current_organization_id()', check: 'id = current_organization_id()' },
      blog_posts: {
        using: `${MINE} OR (organization_id IS NULL AND current_setting('app.platform_blog', true) = 'on')`,
        check: `${MINE} OR (organization_id IS NULL AND current_setting('app.platform_blog', true) = 'on')`,
      },
    };
    for (const table of OWNED) policies[table] = { using: MINE, check: MINE };
    for (const table of DERIVED) {
      policies[table] = {
        using: MINE,
        check: `current_organization_id() IS NOT NULL AND (organization_id IS NULL OR ${MINE})`,
      };
    }
    await runner.query(/* sql */ `
      -- What a writer may not add to: seen by other organizations, and not by its own. True for all without a tenant.
      CREATE FUNCTION group_of_others(id uuid) RETURNS boolean LANGUAGE plpgsql STABLE ${AS_MAINTENANCE} AS $$
      BEGIN
        RETURN current_organization_id() IS NULL OR EXISTS (
          SELECT FROM student_groups g WHERE g.id = $1 AND g.organization_id <> current_organization_id());
      END $$;
      CREATE FUNCTION conversation_of_others(id uuid) RETURNS boolean LANGUAGE plpgsql STABLE ${AS_MAINTENANCE} AS $$
      BEGIN
        RETURN current_organization_id() IS NULL OR coalesce((
          SELECT bool_and(v.organization_id <> current_organization_id())
          FROM organization_conversations v WHERE v.conversation_id = $1), false);
      END $$;
    `);
    Object.assign(policies, SEEN_THROUGH);
    // PostgreSQL evaluates policies in reverse order of their names. For the functions, "upkeep" comes first and saves
    // the lookups of "tenant".
    for (const [table, { using, check }] of Object.entries(policies)) {
      await runner.query(/* sql */ `
        ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
        ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
        CREATE POLICY tenant ON ${table} USING (${using}) WITH CHECK (${check});
        CREATE POLICY upkeep ON ${table} TO CURRENT_USER USING (${MAINTENANCE}) WITH CHECK (${MAINTENANCE});
      `);
    }
    await runner.query(/* sql */ `
      -- Before a key is known there is no organization to name: these look-ups are all that is possible then.
      CREATE FUNCTION api_key_by_hash(hash bytea) RETURNS TABLE (
        id uuid, scopes text[], platform_blog boolean, expired boolean, revoked boolean, used_this_minute boolean,
        organization_id uuid, organization_name text, organization_slug text, time_zone text, currency text
      ) LANGUAGE plpgsql STABLE ROWS 1 ${AS_MAINTENANCE} AS $$
      BEGIN
        -- plpgsql, not sql: it keeps its plan between calls, and this runs once per request.
        RETURN QUERY SELECT k.id, k.scopes, k.platform_blog, coalesce(k.expires_at <= now(), false),
          k.revoked_at IS NOT NULL, coalesce(k.last_used_at >= date_trunc('minute', now()), false),
          o.id, o.name, o.slug, o.time_zone, o.currency
        FROM api_keys k JOIN organizations o ON o.id = k.organization_id WHERE k.key_hash = hash;
      END $$;
      CREATE FUNCTION organization_by_slug(wanted text) RETURNS uuid
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT id FROM organizations WHERE slug = wanted
      $$;
      -- Whether an address has a login already, somewhere: its id, and nothing of the person.
      CREATE FUNCTION login_by_email(address text) RETURNS uuid
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT id FROM users WHERE email_normalized = address
      $$;
      CREATE FUNCTION organization_of_api_key(key_id uuid) RETURNS uuid
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT organization_id FROM api_keys WHERE id = key_id
      $$;
      REVOKE ALL ON FUNCTION api_key_by_hash, organization_by_slug, organization_of_api_key, login_by_email FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    const tables = [...OWNED, ...DERIVED, ...Object.keys(SEEN_THROUGH), 'organizations', 'blog_posts'];
    for (const table of tables) {
      await runner.query(`
        DROP POLICY tenant ON ${table};
        DROP POLICY upkeep ON ${table};
        ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY;
        ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY;
      `);
    }
    await runner.query(`
      DROP FUNCTION api_key_by_hash, organization_by_slug, organization_of_api_key, login_by_email, group_of_others,
        conversation_of_others;
    `);
  }
}
