import { AS_OWNER } from '../rules.js';

/** What the database derives for earnings. */
export const money = /* sql */ `
  CREATE FUNCTION count_payout() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    NEW.counts_at := coalesce((SELECT starts_at FROM sessions
      WHERE organization_id = NEW.organization_id AND id = NEW.session_id), NEW.paid_at);
    RETURN NEW;
  END $$;

  -- A session that was paid for may be reopened and moved.
  CREATE FUNCTION move_payout() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    UPDATE payouts SET counts_at = NEW.starts_at WHERE organization_id = NEW.organization_id AND session_id = NEW.id
      AND NOT taken_back;
    RETURN NULL;
  END $$;
`;
