import { ownerOnly } from './rules.js';

/** Where organizations are that do not simply live here. */
export const moves = /* sql */ `
  -- An organization on its way to another installation, or from one. paused: it can be read, and nothing is written while it is
  -- copied. moved: it lives at moved_to, and what is here is not read any more. arriving: it is here, and lives where it came from,
  -- until it is live. Organizations without a row have always lived here. to_tell: people who have to set a password here, or to
  -- accept anew, and are mailed once it is live.
  CREATE TABLE moves (
    organization_id uuid PRIMARY KEY REFERENCES organizations,
    state text NOT NULL CHECK (state IN ('paused', 'moved', 'arriving', 'live')),
    moved_to text,
    to_tell uuid[] NOT NULL DEFAULT '{}',
    since timestamptz(3) NOT NULL DEFAULT now(),
    CHECK (moved_to IS NOT NULL OR state <> 'moved')
  );
  ${ownerOnly('moves')}
  CREATE POLICY tenant ON moves USING (organization_id = current_organization_id());
`;
