import { normalizeEmail } from '@app/database';
import { type NewPerson, type RefusedPerson } from './people.js';
import type { Refusal } from '@app/rules';

/** Of somebody who is archived: restoring is an operation of its own. */
export const HAS_LEFT = 'This person has left. Restore them first (in the API, by POST …/restore).';
const OF_CHILD = 'A parent cannot have the same address as their child.';

/** A person's normalized addresses: their own, and that of a student's parent. */
export function addressesOf(person: NewPerson): { own: string | null; parent: string | null } {
  const parent = person.type === 'student' ? (person.parent?.email ?? null) : null;
  return {
    own: person.email === null ? null : normalizeEmail(person.email),
    parent: parent === null ? null : normalizeEmail(parent),
  };
}

/** Why a person's values are refused regardless of others; null if they are valid. */
export function refusedByItself(person: NewPerson | RefusedPerson): Refusal | null {
  if (person.type === 'refused') return person.refusal;
  const { own, parent } = addressesOf(person);
  return own !== null && own === parent ? { at: ['parent', 'email'], reason: OF_CHILD } : null;
}

/** The addresses that earlier people in the request have taken. */
export class TakenAddresses {
  private readonly taken = new Map<string, { place: number; as: 'own' | 'parent' }>();

  /** Why one of this person's addresses is not available; null if all are. */
  refusalOf(person: NewPerson): Refusal | null {
    const { own, parent } = addressesOf(person);
    const first = own === null ? undefined : this.taken.get(own);
    if (first) return { at: ['email'], reason: inRow(first.place) };
    const second = parent === null ? undefined : this.taken.get(parent);
    // Siblings share a parent.
    return second?.as === 'own' ? { at: ['parent', 'email'], reason: inRow(second.place) } : null;
  }

  /** Only for provisioned people: a refused one must not block an address for later ones. */
  add(person: NewPerson, place: number): void {
    const { own, parent } = addressesOf(person);
    if (own !== null) this.taken.set(own, { place, as: 'own' });
    if (parent !== null && !this.taken.has(parent)) this.taken.set(parent, { place, as: 'parent' });
  }
}

function inRow(place: number): string {
  return `Row ${place} of this request already has this address.`;
}
