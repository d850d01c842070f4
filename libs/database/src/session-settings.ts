import type { DataSource } from 'typeorm';
import { type ProcessRole, ROLE_SETTINGS } from './grants.js';

/** The timeout of a statement, and of its waits for locks (ms). A deadline shortens both. */
export const STATEMENT_TIMEOUT = 5_000;
export const LOCK_TIMEOUT = 4_000;

/** Statements are many and short: compiling one costs more than it saves. */
const OF_ALL = { jit: 'off' };

/** PostgreSQL's limits: without them, a stuck query would hold its connection for ever. A cut connection's statement ends at the next check. */
const LIMITS = {
  statement_timeout: `${STATEMENT_TIMEOUT / 1_000}s`,
  lock_timeout: `${LOCK_TIMEOUT / 1_000}s`,
  idle_in_transaction_session_timeout: '10s',
  transaction_timeout: '15s',
  client_connection_check_interval: '1s',
};

/** Those that the server knows, beside the session's. PostgreSQL before 17 lacks transaction_timeout, and not every system can check connections. */
const KNOWN = `SELECT name, value, current_setting(name) AS actual
  FROM json_each_text($1) AS wanted (name, value) JOIN pg_settings USING (name)
  WHERE name <> 'client_connection_check_interval' OR version() LIKE '%linux%' ORDER BY name`;

/** The owner's role has no limits, because migrations and imports take long. */
export type SettledRole = ProcessRole | 'owner';

export interface SessionSetting {
  name: string;
  value: string;
  /** What the session has. */
  actual: string;
}

/**
 * What a role is to set for its sessions. A pooler in transaction mode gives a transaction any of its sessions, so that what a process sets
 * for one is lost, or another's: each role has the settings itself (ALTER ROLE … SET).
 */
export function settingsOf(role: SettledRole): { text: string; values: string[] } {
  return { text: KNOWN, values: [JSON.stringify({ ...OF_ALL, ...(role !== 'owner' && LIMITS) })] };
}

/** Sets the limits for a session of the owner, who works without a pooler. */
export const LIMIT_SESSION = {
  text: `SELECT set_config(name, value, false) FROM (${KNOWN}) AS known`,
  values: [JSON.stringify(LIMITS)],
};

/** The settings that this session of the role should have and does not. */
export async function missingSettings(connection: DataSource, role: SettledRole): Promise<SessionSetting[]> {
  const { text, values } = settingsOf(role);
  const settings = await connection.query<SessionSetting[]>(text, values);
  return settings.filter(({ value, actual }) => value !== actual);
}

/** The same as a fault, with the remedy. */
export async function settingFaults(connection: DataSource, role: SettledRole): Promise<string[]> {
  const missing = await missingSettings(connection, role);
  if (missing.length === 0) return [];
  const variable = role === 'owner' ? 'MIGRATION_DATABASE_URL' : ROLE_SETTINGS[role];
  const names = missing.map(({ name, value, actual }) => `${name} = ${actual} instead of ${value}`).join(', ');
  const remedy = 'run "npm run cli -- migrate", then restart the processes, and RECONNECT a pooler';
  return [`the role of ${variable} has ${names} (${remedy})`];
}
