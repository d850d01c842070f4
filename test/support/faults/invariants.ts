import { brokenInvariants } from '@app/database';
import type { Factories } from '../data/factories.js';

/** The invariants that an organization breaks, in words; null for none. @param organizationId null for all of the database */
export async function faultsOf(make: Pick<Factories, 'query'>, organizationId: string | null): Promise<string | null> {
  const broken = await brokenInvariants((sql, values) => make.query(sql, values), organizationId);
  return broken.map(({ name, count, ids }) => `${name}: ${count} rows, ${ids.join(', ')}`).join('; ') || null;
}

/** At the end of a spec file that has its own database, every organization satisfies all invariants. */
export function staysSound(make: Pick<Factories, 'query'>): void {
  afterAll(async () => expect(await faultsOf(make, null)).toBeNull());
}
