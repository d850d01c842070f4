import { secure } from './rules.js';
import { EXPORT } from './states.js';

/** Exports that organizations have asked for. */
export const exports = /* sql */ `
  -- Somebody asks; an owner confirms, unless it was one who asked; the worker prepares; an owner fetches it, once. bytes: of its
  -- file, in the private storage, while there is one; sent: how many of them have been sent, from the first one on. tries:
  -- how often a worker has begun. expires_at: of one that waits for an owner, or to be fetched.
  CREATE TABLE exports (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    status text NOT NULL DEFAULT 'asked' CHECK (${EXPORT.check('status')}),
    api_key_id uuid,
    created_by uuid REFERENCES users,
    confirmed_by uuid REFERENCES users,
    confirmed_at timestamptz(3),
    ready_at timestamptz(3),
    ended_at timestamptz(3),
    expires_at timestamptz(3),
    leased_until timestamptz(3),
    tries integer NOT NULL DEFAULT 0,
    bytes bigint CHECK (bytes > 0),
    sent bigint NOT NULL DEFAULT 0 CHECK (sent >= 0),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id),
    CONSTRAINT exports_end CHECK ((ended_at IS NULL) = (${EXPORT.unended('status')})),
    FOREIGN KEY (organization_id, api_key_id) REFERENCES api_keys (organization_id, id)
  );
  CREATE UNIQUE INDEX exports_open ON exports (organization_id) WHERE ended_at IS NULL;
  CREATE INDEX exports_keyset ON exports (organization_id, created_at, id);
  CREATE INDEX exports_next ON exports (confirmed_at) WHERE status IN ('waiting', 'preparing');
  CREATE INDEX exports_ended ON exports (ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX exports_files ON exports (id) WHERE bytes IS NOT NULL;
  ${secure('exports')}
`;
