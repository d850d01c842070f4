import type { Belonging } from './belonging-oracle.js';
import type { State } from './belonging-state.js';

/** Who belongs as what: facts that the database and the oracle must agree on. */
export interface Observed {
  members: string[];
  parents: string[];
  inClass: string[];
  keys: string[];
  invites: { id: string; sealed: string | null; text: string }[];
}

type InviteFacts = Pick<State['invites'][number], 'kind' | 'role' | 'to' | 'by' | 'key' | 'state' | 'places'> & { joins: string[] };

export function inviteText({ joins, ...facts }: InviteFacts): string {
  return JSON.stringify([facts.kind, facts.role, facts.to, facts.by, facts.key, facts.state, facts.places, joins.sort()]);
}

/** The same facts as the oracle expects them. */
export function expected({ s }: Belonging): Omit<Observed, 'invites'> & { invites: { id: string | null; text: string }[] } {
  return {
    members: [...s.members].map(([who, { role, status, waits }]) => [who, role, status, waits].join(' ')).sort(),
    parents: [...s.parents].map(([who, { status, linked }]) => [who, status, linked].join(' ')).sort(),
    inClass: [...s.inClass].map(String).sort(),
    keys: [...s.keys].flatMap(([who, count]) => Array.from({ length: count }, () => `${who}`)).sort(),
    invites: s.invites.map(({ joins, ...invite }) => ({
      id: invite.id,
      text: inviteText({ ...invite, joins: [...joins].map(([who, { approval }]) => `${who} ${approval}`) }),
    })),
  };
}
