import type { QueryResultRow } from 'pg';
import type { Sql } from 'sql-template-tag';
import type { BoundStatement } from './batch.js';
import type { Deadline } from './deadline.js';
import type { Lease } from './lease.js';
import { REPLAYED } from './replicas/replicas.js';
import { LOCK_TIMEOUT, STATEMENT_TIMEOUT } from './session-settings.js';

/** The organization of a transaction. Row-level security shows only its rows. */
export interface Tenant {
  organizationId: string;
  /** Whether the platform's own blog posts are visible too. */
  platformBlog?: boolean;
  /** The request's deadline; without one, that of `Deadline.within`, or else the default timeout. */
  deadline?: Deadline;
  /** Decides in the tenant's first transaction whether it may read and write at all. */
  proof?: Proof;
  /** Whether reads may come from a replica. */
  replica?: boolean;
}

/** A look-up that shares the round trip of the read that depends on it. */
export interface Proof {
  statement: Sql;
  /** Set once {@link settle} has accepted the rows. */
  settled: boolean;
  /** @throws unless the rows allow what follows in the transaction; its results are then thrown away */
  settle(rows: QueryResultRow[]): void;
}

const SET_TENANT = `SELECT set_config('app.organization_id', $1, true), set_config('app.platform_blog', $2, true)`;

const SET_TIMEOUTS = `set_config('statement_timeout', $3, true), set_config('lock_timeout', $4, true)`;

/** The first statement of a read. The settings end with the transaction, and read only cannot be revoked. */
const READ_AS_TENANT = {
  name: 'read_as_tenant',
  text: `${SET_TENANT}, set_config('transaction_read_only', 'on', true), enter_home(false)`,
};

/** The same with timeouts up to the deadline, if they are shorter than the role's. */
const READ_IN_TIME = { name: 'read_in_time', text: `${READ_AS_TENANT.text}, ${SET_TIMEOUTS}` };

/** The same on a replica that has everything up to a position. */
const READ_REPLICA = { name: 'read_replica', text: `${READ_IN_TIME.text}, ${REPLAYED('$5')}` };

/** The same two for writes. */
const WRITE_AS_TENANT = { name: 'write_as_tenant', text: `${SET_TENANT}, enter_home(true)` };
const WRITE_IN_TIME = { name: 'write_in_time', text: `${SET_TENANT}, ${SET_TIMEOUTS}, enter_home(true)` };

/** The first statement of a read. */
export function readAs(tenant: Tenant, lease: Lease): BoundStatement {
  const timeouts = lease.timeouts();
  const values = settingsOf(tenant);
  return timeouts ? { ...READ_IN_TIME, values: [...values, ...timeouts] } : { ...READ_AS_TENANT, values };
}

/** The same on a replica, which fails unless it has everything up to the position. */
export function readReplicaAs(tenant: Tenant, lease: Lease, position: string): BoundStatement {
  const timeouts = lease.timeouts() ?? [`${STATEMENT_TIMEOUT}ms`, `${LOCK_TIMEOUT}ms`];
  return { ...READ_REPLICA, values: [...settingsOf(tenant), ...timeouts, position] };
}

/** The first statement of a write. */
export function writeAs(tenant: Tenant, lease: Lease): BoundStatement {
  const timeouts = lease.timeouts();
  const values = settingsOf(tenant);
  return timeouts ? { ...WRITE_IN_TIME, values: [...values, ...timeouts] } : { ...WRITE_AS_TENANT, values };
}

function settingsOf({ organizationId, platformBlog }: Tenant): string[] {
  return [organizationId, platformBlog ? 'on' : 'off'];
}
