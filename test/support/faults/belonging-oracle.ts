import type { Act, CodeKind, Invite, Role, State } from './belonging-state.js';

const PLACES = { class: 40, parent: 2, student: null, tutor: null, mail: null };
const manages = (role: Role | undefined): boolean => role === 'owner' || role === 'admin';

/** An organization in memory: who belongs to it as what, and what each act makes of that, by the rules of docs/decisions/people.md. */
export class Belonging {
  constructor(
    readonly s: State,
    /** Those who have a password or passkey. */
    private readonly signsIn: (person: number) => boolean,
  ) {}

  /** What the organization is after these acts, one after the other. */
  after(...acts: Act[]): Belonging {
    const next = new Belonging(structuredClone(this.s), this.signsIn);
    for (const act of acts) {
      next.s.clock++;
      (next.acts[act.do] as (act: Act) => void)(act);
    }
    return next;
  }

  role(person: number): Role | undefined {
    const member = this.s.members.get(person);
    return member?.status === 'accepted' ? member.role : undefined;
  }

  belongs(person: number): boolean {
    return this.role(person) !== undefined || this.s.parents.get(person)?.status === 'accepted';
  }

  /** Whether an invitation waits for the person's answer. */
  offered(person: number): boolean {
    const member = this.s.members.get(person);
    return member?.status === 'pending' && !member.waits;
  }

  private readonly acts: { [K in Act['do']]: (act: Extract<Act, { do: K }>) => void } = {
    join: ({ who, invite }) => this.join(who, this.s.invites[invite]!),
    declineMail: ({ invite }) => {
      const mail = this.s.invites[invite]!;
      if (mail.state === 'open') mail.state = 'closed';
    },
    answer: ({ who, accept }) => {
      if (!this.offered(who)) return;
      const member = this.s.members.get(who)!;
      if (accept) member.status = 'accepted';
      else Object.assign(member, { status: 'archived', gone: this.s.clock });
    },
    invite: ({ by, who, role }) => {
      if (!manages(this.role(by)) || (role === 'admin' && this.role(by) !== 'owner')) return;
      if (role === 'admin') this.mail(who, role, by, null);
      else this.provision(who, role);
    },
    keyInvite: ({ by, who, role }) => {
      if (by === null || this.s.keys.get(by)) this.mail(who, role, null, by);
    },
    decide: (act) => this.decide(act),
    remove: ({ by, who }) => {
      if (manages(this.role(by))) this.end(who, undefined, by);
    },
    keyRemove: ({ who, as }) => this.end(who, as, null),
    leave: ({ who }) => this.end(who, undefined, who),
    role: (act) => this.changeRole(act),
    replace: ({ by, invite }) => this.replace(by, this.s.invites[invite]!),
    switchOff: ({ by, invite }) => {
      const code = this.s.invites[invite]!;
      if (manages(this.role(by)) && code.state === 'open') code.state = 'off';
    },
    undo: (act) => this.undo(act),
    makeKey: ({ by }) => {
      if (manages(this.role(by))) this.s.keys.set(by, (this.s.keys.get(by) ?? 0) + 1);
    },
  };

  private join(who: number, invite: Invite): void {
    const { members, parents, clock } = this.s;
    const { role, to, kind } = invite;
    if (invite.state !== 'open' || (to !== null && to !== who)) return;
    const [member, parent] = [members.get(who), parents.get(who)];
    if (role === 'parent') {
      if (member?.role === 'student' || parent?.status === 'archived') return;
    } else {
      if (member && member.role !== role) return;
      if (member?.status === 'archived' && (to === null || member.gone > invite.made)) return;
      if (!member && parent && role === 'student') return;
    }
    let waits = false;
    if (role === 'admin') {
      // Only an owner's invite makes an admin.
      const vouched = invite.by !== null && this.role(invite.by) === 'owner';
      waits = !vouched && member?.status !== 'accepted';
    } else if (to === null) {
      const came = invite.joins.has(who);
      if (!(role === 'parent' && parent?.linked)) {
        if (!came && invite.places !== null && this.taken(invite) >= invite.places) return;
        waits = role === 'parent' || (!member && role === 'tutor') || (member?.waits ?? false);
      }
    }
    const joined = invite.joins.get(who);
    if (!joined) invite.joins.set(who, { at: clock, approval: waits ? 'waiting' : null });
    else if (waits) joined.approval = 'waiting';
    if (to !== null) invite.state = 'closed';
    if (role === 'parent') {
      if (!parent) parents.set(who, { status: 'pending', linked: false, made: clock });
      if (!waits) Object.assign(parents.get(who)!, { status: 'accepted', linked: true });
      return;
    }
    const fresh = member?.status !== 'archived' ? member : undefined;
    const made = fresh?.made ?? clock;
    if (waits) {
      if (!member?.waits) members.set(who, { role, status: 'pending', waits: true, made, gone: 0 });
      return;
    }
    members.set(who, { role, status: 'accepted', waits: false, made, gone: 0 });
    if (kind === 'class') this.s.inClass.add(who);
    if (to !== null) this.settle(who, 'member');
  }

  /** How many places are taken: of those who have not left. */
  taken({ joins, role }: Invite): number {
    const left = role === 'parent' ? this.s.parents : this.s.members;
    return [...joins.keys()].filter((who) => left.get(who)?.status !== 'archived').length;
  }

  private waitingFor(who: number, as: 'member' | 'parent'): Invite[] {
    return this.s.invites.filter(({ role, joins }) => (role === 'parent') === (as === 'parent') && joins.get(who)?.approval === 'waiting');
  }

  private settle(who: number, as: 'member' | 'parent'): void {
    for (const { kind, joins } of this.waitingFor(who, as)) {
      joins.get(who)!.approval = 'approved';
      if (kind === 'class') this.s.inClass.add(who);
      if (kind === 'parent') this.s.parents.get(who)!.linked = true;
    }
  }

  private mail(to: number, role: Role, by: number | null, key: number | null): void {
    if (this.role(to) !== undefined) return;
    this.s.invites.push({ id: null, kind: 'mail', role, to, by, key, state: 'open', places: null, made: this.s.clock, joins: new Map() });
  }

  /** The organization adds somebody itself. */
  private provision(who: number, role: 'student' | 'tutor'): void {
    const { members, parents, clock } = this.s;
    const [member, parent] = [members.get(who), parents.get(who)];
    if (member ? member.role !== role || member.status !== 'archived' : parent && role === 'student') return;
    // Whoever comes back is asked again.
    const status = !member && parent?.status === 'accepted' ? 'accepted' : 'pending';
    members.set(who, { role, status, waits: false, made: clock, gone: 0 });
    // Whoever comes back does so by the organization's word, not by the code that they once had.
    for (const { role: of, joins } of this.s.invites) if (of !== 'parent' && joins.has(who)) joins.get(who)!.approval = 'approved';
  }

  private decide({ by, who, as, approve }: Extract<Act, { do: 'decide' }>): void {
    const { members, parents, clock } = this.s;
    const [member, parent] = [members.get(who), parents.get(who)];
    if (!manages(this.role(by)) || !(as === 'parent' ? parent : member)) return;
    if (as === 'parent') {
      if (this.waitingFor(who, as).length === 0) return;
      if (approve) {
        if (parent!.status === 'pending') parent!.status = 'accepted';
        this.settle(who, as);
        return;
      }
      if (parent!.status === 'pending' && !parent!.linked) parent!.status = 'archived';
    } else {
      if (manages(member!.role) && this.role(by) !== 'owner') return;
      if (member!.status !== 'pending' || !member!.waits) return;
      if (approve) {
        Object.assign(member!, { status: 'accepted', waits: false });
        this.settle(who, as);
        return;
      }
      Object.assign(member!, { status: 'archived', waits: false, gone: clock });
    }
    for (const { joins } of this.waitingFor(who, as)) joins.delete(who);
  }

  private otherOwner(than: number): boolean {
    return [...this.s.members].some(([who, { role, status }]) => who !== than && role === 'owner' && status === 'accepted' && this.signsIn(who));
  }

  /** @param by null for a key @returns whether anything ended */
  private end(who: number, as: 'student' | 'staff' | 'parent' | undefined, by: number | null): void {
    const { members, parents, invites, clock } = this.s;
    const [member, parent] = [members.get(who), parents.get(who)];
    const isMember = member !== undefined && as !== 'parent' && (as === undefined || (as === 'student') === (member.role === 'student'));
    const isParent = parent !== undefined && (as === undefined || as === 'parent');
    if (isMember && manages(member.role) && by !== who && (by === null || this.role(by) !== 'owner')) return;
    const endsMember = isMember && member.status !== 'archived';
    const endsParent = isParent && parent.status !== 'archived';
    if (!endsMember && !endsParent) return;
    if (endsMember) {
      if (member.role === 'owner' && member.status === 'accepted' && !this.otherOwner(who)) return;
      Object.assign(member, { status: 'archived', waits: false, gone: clock });
      this.s.inClass.delete(who);
      this.s.keys.delete(who);
    }
    if (endsParent) Object.assign(parent, { status: 'archived', linked: false });
    for (const invite of invites) {
      if (invite.joins.get(who)?.approval === 'waiting') invite.joins.delete(who);
      if (invite.to === who && (invite.state === 'open' || invite.state === 'held')) invite.state = 'closed';
    }
    this.endWaysIn(who, endsMember && manages(member.role), by);
  }

  /** What somebody made, or could read: codes are replaced or switched off, and invites wait for an owner. */
  private endWaysIn(who: number, reads: boolean, by: number | null): void {
    const known = this.s.invites.filter(({ state, kind, by: maker, key }) => {
      return state === 'open' && (maker === who || key === who || (reads && kind !== 'mail' && kind !== 'parent'));
    });
    for (const invite of known) invite.state = invite.kind === 'mail' ? 'held' : invite.kind === 'parent' ? 'off' : 'closed';
    const maker = by === who ? null : by;
    if (known.some(({ kind }) => kind === 'student' || kind === 'tutor')) this.addStanding(maker);
    if (known.some(({ kind }) => kind === 'class')) this.code('class', maker);
  }

  /** A code that is switched off is not missing. */
  private addStanding(by: number | null): void {
    for (const kind of ['student', 'tutor'] as const)
      if (!this.s.invites.some((invite) => invite.kind === kind && invite.state !== 'closed')) this.code(kind, by);
  }

  /** A new code. @returns it */
  code(kind: CodeKind, by: number | null): Invite {
    const role = kind === 'class' ? 'student' : kind;
    const made = { id: null, to: null, by, key: null, state: 'open' as const, made: this.s.clock, joins: new Map() };
    const invite: Invite = { ...made, kind, role, places: PLACES[kind] };
    this.s.invites.push(invite);
    return invite;
  }

  private replace(by: number, code: Invite): void {
    if (!manages(this.role(by)) || code.state === 'closed') return;
    code.state = 'closed';
    if (code.kind === 'student' || code.kind === 'tutor') this.addStanding(by);
    else this.code(code.kind as CodeKind, by);
  }

  private changeRole({ by, who, role }: Extract<Act, { do: 'role' }>): void {
    const member = this.s.members.get(who);
    if (this.role(by) !== 'owner' || member?.status !== 'accepted' || member.role === 'student' || member.role === role) return;
    if (member.role === 'owner' && !this.otherOwner(who)) return;
    member.role = role;
    if (manages(role)) return;
    this.s.keys.delete(who);
    this.endWaysIn(who, true, by);
  }

  /** Those go who belong only because of the code. */
  private undo({ by, invite, since }: Extract<Act, { do: 'undo' }>): void {
    if (!manages(this.role(by))) return;
    const code = this.s.invites[invite]!;
    const ofParent = code.role === 'parent';
    for (const [who, { at, approval }] of [...code.joins]) {
      const tie = ofParent ? this.s.parents.get(who) : this.s.members.get(who);
      const role = ofParent ? 'parent' : this.s.members.get(who)?.role;
      const otherwise = this.s.invites.some((other) => {
        const came = other !== code && (other.role === 'parent') === ofParent && other.joins.get(who);
        return came && (other.to !== null || other.state === 'open' || came.approval === 'approved');
      });
      if (!tie || tie.status === 'archived' || role !== code.role || tie.made < at) continue;
      if (at >= since && approval !== 'approved' && !otherwise)
        this.end(who, code.role === 'tutor' ? 'staff' : (code.role as 'student' | 'parent'), by);
    }
  }
}
