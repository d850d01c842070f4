import { newAddress } from '../data/provisioning.js';
import { type Org, ORGS, type Place, PLACES } from './identity-commands.js';

/** The secret of an invite in a response of the API. */
export interface Answered {
  token: string;
  /** The invited address; null for a code. */
  to: Place | null;
}

/** What a sequence of commands has led to, and who may know what. */
export class Facts {
  readonly addresses = PLACES.map(() => newAddress());
  readonly tokens: Answered[][] = ORGS.map(() => []);
  /** Login ids that each organization has learned, by the address that it knows. */
  readonly known = ORGS.map(() => new Map<Place, string>());
  /** The organizations that each person has accepted. */
  readonly accepted: Set<Org>[] = PLACES.map(() => new Set());
  /** Secrets that only organizations accepted by the person may see. */
  readonly secrets: Set<string>[] = PLACES.map(() => new Set());
  /** Secrets that each organization had seen of people by the time they left it. */
  readonly seen: Set<string>[] = ORGS.map(() => new Set());
}
