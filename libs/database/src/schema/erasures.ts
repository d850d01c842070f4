import { partOf } from './emits.js';
import { isKept } from './keeping.js';
import { ownerOnly, secure } from './rules.js';

/** Who is to be erased, and who must not be. */
export const erasures = /* sql */ `
  -- Somebody is to be erased here. due_at: when the worker does it, unless it is called off; null until an owner has confirmed
  -- what a key asked for. keep_results: without a name. The row goes with the person, or when it is called off.
  CREATE TABLE erasures (
    organization_id uuid NOT NULL REFERENCES organizations,
    person_id uuid NOT NULL REFERENCES users,
    keep_results boolean NOT NULL DEFAULT false,
    asked_at timestamptz(3) NOT NULL DEFAULT now(),
    due_at timestamptz(3),
    PRIMARY KEY (organization_id, person_id)
  );
  CREATE INDEX erasures_due ON erasures (due_at) WHERE due_at IS NOT NULL;
  ${secure('erasures')}

  -- Somebody wants to be erased wherever they are known, and their login with it: from due_at on, unless they call it off. The row
  -- goes with the login.
  CREATE TABLE account_deletions (
    user_id uuid PRIMARY KEY REFERENCES users,
    asked_at timestamptz(3) NOT NULL DEFAULT now(),
    due_at timestamptz(3) NOT NULL
  );
  ${ownerOnly('account_deletions')}
  CREATE TRIGGER keep_login BEFORE INSERT OR DELETE ON account_deletions FOR EACH ROW EXECUTE FUNCTION keep_login('user_id');

  -- While there is one, nobody erases the person here: a dispute, or a duty to keep what is known of them.
  CREATE TABLE holds (
    organization_id uuid NOT NULL REFERENCES organizations,
    user_id uuid NOT NULL REFERENCES users,
    reason text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, user_id)
  );
  ${secure('holds')}

  -- What an organization has deleted once it is so many months old: see KEPT. Nothing without a row.
  CREATE TABLE retention_settings (
    organization_id uuid NOT NULL REFERENCES organizations,
    kind text NOT NULL CHECK (${isKept('kind')}),
    months integer NOT NULL CHECK (months BETWEEN 1 AND 120),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, kind)
  );
  ${partOf('retention_settings', { of: 'organizations', resource: 'org', on: 'p.id = c.organization_id', fields: { months: ['retention'] } })}
  ${secure('retention_settings')}
`;
