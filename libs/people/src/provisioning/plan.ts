import { v7 as uuidv7 } from 'uuid';
import type { EmailKind } from '@app/jobs';
import { normalizeEmail } from '@app/database';
import type { Login, NewLogin } from './logins.js';
import type { NewParent, NewPerson, NewStudent, NewTutor, Person, RefusedPerson } from './people.js';
import type { Refusal } from '@app/rules';
import { refusedByItself, TakenAddresses } from './refusals.js';
import { type MembershipState, stateAsMember, stateAsParent } from './membership-state.js';

/** A membership to write. */
export interface PlannedMembership {
  id: string;
  status: 'accepted' | 'pending';
  person: Person;
}

/** A mail to a provisioned person, with their index in the request. */
export interface PlannedMail {
  place: number;
  kind: EmailKind;
  role: 'student' | 'tutor';
  id: string;
  to: string;
  firstName: string;
}

/** The decision for one person. */
export type Decision =
  { status: 'ok' | 'exists'; id: string; created: boolean; known: boolean } | { status: 'error'; refusal: Refusal };

/** Decides what to do for each person from what the organization knows of their addresses, without side effects. */
export class Plan {
  readonly decisions: Decision[];
  readonly logins = new Map<string, NewLogin>();
  readonly members: (PlannedMembership & { role: 'student' | 'tutor' })[] = [];
  /** Members that were archived. */
  readonly returning: PlannedMembership[] = [];
  /** Pending members who are mailed again. */
  readonly reminded: string[] = [];
  /** For all tutors. Existing profiles stay unchanged. */
  readonly profiles: { id: string; tutor: NewTutor }[] = [];
  readonly parents = new Map<string, PlannedMembership>();
  readonly links: { parentId: string; studentId: string }[] = [];
  readonly mails: PlannedMail[] = [];
  /** Ids of new logins by address, or by their place in the request if they have none. */
  private readonly newcomers = new Map<string, string>();

  constructor(
    people: (NewPerson | RefusedPerson)[],
    private readonly known: ReadonlyMap<string, Login>,
  ) {
    const taken = new TakenAddresses();
    this.decisions = people.map((person, place) => {
      if (person.type === 'refused') return { status: 'error', refusal: person.refusal };
      const refusal = refusedByItself(person) ?? taken.refusalOf(person);
      if (refusal) return { status: 'error', refusal };
      const decision = person.type === 'parent' ? this.parent(person, place) : this.member(person, place);
      if (decision.status !== 'error') taken.add(person, place);
      return decision;
    });
  }

  /** Whether there is anything to write. */
  get writes(): boolean {
    const { members, returning, reminded, profiles, parents, links } = this;
    return members.length + returning.length + reminded.length + profiles.length + parents.size + links.length > 0;
  }

  /** The (normalized) addresses by which existing logins were found. */
  get offers(): { id: string; address: string }[] {
    const ties = [...this.members, ...this.returning, ...this.parents.values()];
    return ties.flatMap(({ id, status, person: { email } }) =>
      status === 'pending' && email !== null ? [{ id, address: normalizeEmail(email) }] : [],
    );
  }

  private member(person: NewStudent | NewTutor, place: number): Decision {
    const login = this.loginOf(person);
    const state = stateAsMember(person.type, login);
    if (state.as === 'refused') return refused(['email'], state.reason);
    if (state.as === 'exists') {
      if (person.type === 'tutor') this.profiles.push({ id: login!.id, tutor: person });
      return { status: 'exists', id: login!.id, created: false, known: true };
    }
    const parent = person.type === 'student' && state.as !== 'again' ? person.parent : null;
    const parents = parent && stateAsParent(this.loginOf(parent));
    // Nothing is planned for the student yet: both are provisioned, or neither.
    if (parents?.as === 'refused') return refused(['parent', 'email'], parents.reason);
    const id = login?.id ?? this.newLogin(person, `${place}`);
    if (state.as === 'new') this.members.push({ id, status: state.status, person, role: person.type });
    if (state.as === 'returning') this.returning.push({ id, status: state.status, person });
    if (person.type === 'tutor') this.profiles.push({ id, tutor: person });
    if (parent) {
      this.links.push({ parentId: this.addParent(parent, parents!, `${place} parent`), studentId: id });
    }
    if (person.sendInvite && person.email !== null && !login?.member?.mailedLately) {
      if (state.as === 'again') this.reminded.push(id);
      const kind = login ? 'membership_invite' : 'account_created';
      this.mails.push({ place, kind, role: person.type, id, to: person.email, firstName: person.firstName });
    }
    return { status: 'ok', id, created: !login, known: state.as === 'again' };
  }

  private parent(person: NewParent, place: number): Decision {
    const login = this.loginOf(person);
    const state = stateAsParent(login);
    if (state.as === 'refused') return refused(['email'], state.reason);
    const id = this.addParent(person, state, `${place}`);
    const known = state.as === 'exists' || state.as === 'again';
    return { status: state.as === 'exists' ? 'exists' : 'ok', id, created: !login, known };
  }

  private addParent(person: Person, state: MembershipState, key: string): string {
    const id = this.loginOf(person)?.id ?? this.newLogin(person, key);
    if ('status' in state && !this.parents.has(id)) this.parents.set(id, { id, status: state.status, person });
    return id;
  }

  private loginOf({ email }: Person): Login | undefined {
    return email === null ? undefined : this.known.get(normalizeEmail(email));
  }

  /** @param place distinguishes people without an address */
  private newLogin(person: Person, place: string): string {
    const key = person.email === null ? place : normalizeEmail(person.email);
    const known = this.newcomers.get(key);
    if (known) return known;
    const id = uuidv7();
    this.newcomers.set(key, id);
    this.logins.set(id, { ...person, id });
    return id;
  }
}

function refused(at: string[], reason: string): Decision {
  return { status: 'error', refusal: { at, reason } };
}
