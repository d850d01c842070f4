import type { Invariant } from './invariant.js';
import { LESSONS } from './lessons.js';
import { MONEY } from './money.js';
import { OUTBOX } from './outbox.js';
import { PEOPLE } from './people.js';
import { COPIED, SIGHT } from './sight.js';

const ALL = { ...MONEY, ...LESSONS, ...SIGHT, ...PEOPLE, ...OUTBOX };

export type InvariantName = keyof typeof ALL;

/** By name. Each holds after every commit: the tests run them after random acts, and `doctor --deep` on what is there. */
export const INVARIANTS: Record<InvariantName, Invariant> = ALL;

export const INVARIANT_NAMES = Object.keys(ALL) as InvariantName[];

/** Those that `wrong_list_counts` and `wrong_copies` do not look at. */
export const OF_ROWS = INVARIANT_NAMES.filter(
  (name) => name !== 'totals of lists' && !Object.values<InvariantName>(COPIED).includes(name),
);

/** Rows of an organization that break an invariant. */
export interface Broken {
  name: InvariantName;
  organization_id: string;
  count: number;
  /** The first ones. */
  ids: string[];
}

/** Ids that are named of each organization. */
const MOST_IDS = 5;

const BROKEN = (names: readonly InvariantName[]): string =>
  names
    .map(
      (name) => `SELECT '${name}' AS name, organization_id, count(*)::int AS count,
        (array_agg(id::text ORDER BY id::text))[1:${MOST_IDS}] AS ids FROM (${INVARIANTS[name].broken}) b
      WHERE $1::uuid IS NULL OR organization_id = $1 GROUP BY organization_id`,
    )
    .join('\nUNION ALL ');

/**
 * What breaks an invariant, in one snapshot.
 *
 * @param query runs a statement as somebody who sees every row
 * @param organizationId null for all
 */
export function brokenInvariants(
  query: (sql: string, values: unknown[]) => Promise<Broken[]>,
  organizationId: string | null = null,
  names: readonly InvariantName[] = INVARIANT_NAMES,
): Promise<Broken[]> {
  return query(BROKEN(names), [organizationId]);
}
