import type { MigrationInterface, QueryRunner } from 'typeorm';
import { secureTable } from './secure-table.v1.js';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** People create, replace and revoke API keys in the portal and get mails about it. */
export class Keys1763600000016 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- form_token: of the form that asked for the key; sent twice, it makes one. replaced_at: when its expiry was brought forward for the key that takes over. expiry_warned_days: of the warnings
      -- before it expires, the last one that was mailed.
      ALTER TABLE api_keys
        ADD UNIQUE (organization_id, id),
        ADD COLUMN form_token uuid,
        ADD UNIQUE (organization_id, form_token),
        ADD COLUMN replaced_by uuid,
        ADD COLUMN replaced_at timestamptz(3),
        ADD COLUMN expiry_warned_days integer CHECK (expiry_warned_days IN (3, 14)),
        ADD FOREIGN KEY (organization_id, replaced_by) REFERENCES api_keys (organization_id, id),
        ADD CHECK ((replaced_by IS NULL) = (replaced_at IS NULL));
      CREATE INDEX api_keys_expiry ON api_keys (expires_at) WHERE revoked_at IS NULL;

      -- Whoever writes, the owner included: what a key opens is settled when it is made, and its end only comes nearer.
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
      CREATE TRIGGER keep_api_key BEFORE UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION keep_api_key();

      -- A new key on its way to the page that shows it once, sealed with the session of the browser that asked for it.
      -- UNLOGGED: it reaches no write-ahead log, so no replica and no backup of the files.
      CREATE UNLOGGED TABLE api_key_handovers (
        api_key_id uuid PRIMARY KEY,
        organization_id uuid NOT NULL,
        sealed bytea NOT NULL,
        expires_at timestamptz(3) NOT NULL DEFAULT now() + interval '5 minutes',
        FOREIGN KEY (organization_id, api_key_id) REFERENCES api_keys (organization_id, id) ON DELETE CASCADE
      );
      CREATE FUNCTION purge_api_key_handovers() RETURNS void LANGUAGE sql VOLATILE ${AS_MAINTENANCE} AS $$
        DELETE FROM api_key_handovers WHERE expires_at <= now()
      $$;

      -- Keys whose next warning is due: the nearest of 14 and 3 days that has begun, unless it was mailed, or had begun
      -- already when the expiry was set.
      CREATE FUNCTION expiring_api_keys(most integer) RETURNS TABLE (id uuid, organization_id uuid, days integer)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT k.id, k.organization_id, w.days FROM api_keys k,
          LATERAL (SELECT min(d) AS days FROM unnest(ARRAY[3, 14]) AS d
            WHERE k.expires_at <= now() + d * interval '1 day') w
        WHERE k.revoked_at IS NULL AND k.expires_at > now() AND k.expires_at <= now() + interval '14 days'
          AND coalesce(k.expiry_warned_days, 15) > w.days
          AND greatest(k.created_at, k.replaced_at) < k.expires_at - w.days * interval '1 day'
        ORDER BY k.expires_at LIMIT least(most, 1000)
      $$;

      -- Whom the organization's own notices go to, and how it is named in them.
      CREATE FUNCTION organization_administrators() RETURNS TABLE (user_id uuid, email text, first_name text,
        last_name text, organization_name text, organization_slug text, time_zone text) LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT u.id, u.email, u.first_name, u.last_name, o.name, o.slug, o.time_zone
        FROM organizations o JOIN members m ON m.organization_id = o.id JOIN users u ON u.id = m.user_id
        WHERE o.id = current_organization_id() AND m.role IN ('owner', 'admin') AND m.status = 'accepted'
          AND NOT u.placeholder_email
        ORDER BY u.id
      $$;
      REVOKE ALL ON FUNCTION keep_api_key, purge_api_key_handovers, expiring_api_keys, organization_administrators FROM PUBLIC;

      -- The person behind a change, where no API key is.
      ALTER TABLE audit_log ADD COLUMN user_id uuid REFERENCES users;
    `);
    await secureTable(runner, 'api_key_handovers');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      ALTER TABLE audit_log DROP COLUMN user_id;
      DROP FUNCTION purge_api_key_handovers, expiring_api_keys, organization_administrators;
      DROP TABLE api_key_handovers;
      DROP FUNCTION keep_api_key CASCADE;
      DROP INDEX api_keys_expiry;
      ALTER TABLE api_keys DROP COLUMN form_token, DROP COLUMN replaced_by, DROP COLUMN replaced_at, DROP COLUMN expiry_warned_days,
        DROP CONSTRAINT api_keys_organization_id_id_key;
    `);
  }
}
