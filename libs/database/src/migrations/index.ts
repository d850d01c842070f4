import { Accounts1763600000001 } from './1763600000001-accounts.js';
import { People1763600000002 } from './1763600000002-people.js';
import { Teaching1763600000003 } from './1763600000003-teaching.js';
import { Business1763600000004 } from './1763600000004-business.js';
import { Derived1763600000005 } from './1763600000005-derived.js';
import { RowSecurity1763600000006 } from './1763600000006-row-security.js';
import { Writes1763600000007 } from './1763600000007-writes.js';
import { ListCounts1763600000008 } from './1763600000008-list-counts.js';
import { Identity1763600000009 } from './1763600000009-identity.js';
import { Roles1763600000010 } from './1763600000010-roles.js';
import { ListIndexes1763600000011 } from './1763600000011-list-indexes.js';
import { ReadCopies1763600000012 } from './1763600000012-read-copies.js';
import { OutboxLeases1763600000013 } from './1763600000013-outbox-leases.js';
import { Contract1763600000014 } from './1763600000014-contract.js';
import { Portal1763600000015 } from './1763600000015-portal.js';
import { Keys1763600000016 } from './1763600000016-keys.js';
import { Joining1763600000017 } from './1763600000017-joining.js';
import { Activity1763600000018 } from './1763600000018-activity.js';
import { PasskeysAtJoining1763600000019 } from './1763600000019-passkeys-at-joining.js';
import { ClaimsThatDecide1763600000020 } from './1763600000020-claims-that-decide.js';
import { AccountMails1763600000021 } from './1763600000021-account-mails.js';
import { EndOfSessions1763600000024 } from './1763600000024-end-of-sessions.js';
import { PasswordLinkRequests1763600000025 } from './1763600000025-password-link-requests.js';
import { CheaperRequestLog1763600000026 } from './1763600000026-cheaper-request-log.js';
import { OwnNames1763600000027 } from './1763600000027-own-names.js';
import { FairClaims1763600000028 } from './1763600000028-fair-claims.js';
import { DeviceCookies1763600000029 } from './1763600000029-device-cookies.js';

/** All migrations, in order. A file that is not listed does not run. A listed file must never be edited. */
export const migrations = [
  Accounts1763600000001,
  People1763600000002,
  Teaching1763600000003,
  Business1763600000004,
  Derived1763600000005,
  RowSecurity1763600000006,
  Writes1763600000007,
  ListCounts1763600000008,
  Identity1763600000009,
  Roles1763600000010,
  ListIndexes1763600000011,
  ReadCopies1763600000012,
  OutboxLeases1763600000013,
  Contract1763600000014,
  Portal1763600000015,
  Keys1763600000016,
  Joining1763600000017,
  Activity1763600000018,
  PasskeysAtJoining1763600000019,
  ClaimsThatDecide1763600000020,
  AccountMails1763600000021,
  EndOfSessions1763600000024,
  PasswordLinkRequests1763600000025,
  CheaperRequestLog1763600000026,
  OwnNames1763600000027,
  FairClaims1763600000028,
  DeviceCookies1763600000029,
];
