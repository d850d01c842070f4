import { isDeepStrictEqual } from 'node:util';
import type { CodeKind, Command, Single } from './belonging-commands.js';
import { type Act, BelongingStage, type Invite, type Rows, signsIn, type Tie } from './belonging-organization.js';
import type { IdentityFixture } from './identity-model.js';
import { faultsOf } from './invariants.js';

/** The organization's rows break an invariant, or somebody sees or does what they may not. */
export class Trespass extends Error {}

const RACERS = 20;
const manages = (tie: Tie | undefined) => tie?.status === 'accepted' && (tie.role === 'owner' || tie.role === 'admin');

/** Runs sequences of commands against the real API and portal; after each, the rows satisfy every invariant. */
export class BelongingModel {
  /** When each command began. */
  private readonly moments: string[] = [];

  private constructor(
    private readonly stage: BelongingStage,
    private readonly fixture: IdentityFixture,
    private rows: Rows,
  ) {}

  /** @throws Trespass */
  static async run(fixture: IdentityFixture, commands: Command[]): Promise<void> {
    const stage = await BelongingStage.open(fixture);
    const model = new BelongingModel(stage, fixture, await stage.rows());
    const elsewhere = await stage.elsewhere();
    for (const command of commands) {
      model.moments.push(new Date().toISOString());
      await model.step(command);
    }
    await model.check(stage.people.keys());
    await model.checkSecrets();
    if ((await stage.elsewhere()) !== elsewhere) throw new Trespass('the other organization has changed');
  }

  private async step(command: Command): Promise<void> {
    if (command.do === 'race') return this.race(command.kind, command.left);
    const acts = (command.do === 'both' ? command.acts : [command]).flatMap((single) => this.resolved(single) ?? []);
    const begun = acts.map((act) => () => this.stage.do(act));
    await (acts.length === 2 ? this.stage.together(begun) : begun[0]?.());
    const told = JSON.stringify(acts);
    const before = this.rows;
    await this.agree(told);
    const [act] = acts;
    const fault = act && acts.length === 1 ? faultOf(act, before, this.rows) : null;
    if (fault) throw new Trespass(`${fault} after ${told}: ${JSON.stringify([before, this.rows])}`);
    await this.check(acts.flatMap((one) => ['who' in one ? one.who : null, 'by' in one ? one.by : null].filter((who) => who !== null)));
  }

  /** The command with what it is about; null if there is nothing. */
  private resolved(single: Single): Act | null {
    if (single.do === 'openMail') {
      const invite = this.newest(({ to }) => to === single.who);
      return invite && { do: single.accept ? 'join' : 'declineMail', who: single.who, invite };
    }
    if (!('kind' in single)) return single;
    const { kind, nth, ...act } = single;
    const invite = this.newest((one) => one.kind === kind, nth)!;
    if (act.do !== 'undo') return { ...act, invite };
    return { do: 'undo', by: act.by, invite, moment: this.moments[Math.max(0, this.moments.length - 1 - act.back)]! };
  }

  /** The newest invite of this kind, or one before it. */
  private newest(which: (invite: Invite) => boolean, nth = 0): Invite | null {
    const found = this.rows.invites.filter(which).toReversed();
    return found[nth % found.length] ?? null;
  }

  /** Twenty people open a code that has few places left: so many get in, whoever they are. */
  private async race(kind: CodeKind, left: number): Promise<void> {
    const invite = this.newest((one) => one.kind === kind)!;
    const ties = invite.role === 'parent' ? this.rows.parents : this.rows.members;
    const taken = invite.joins.filter(({ who }) => ties.some((tie) => tie.who === who && tie.status !== 'archived')).length;
    const places = Math.max(1, taken + left);
    await this.stage.limit(invite.id, places);
    const racers = await this.stage.add(RACERS);
    await Promise.all(racers.map((who) => this.stage.do({ do: 'join', who, invite })));
    await this.agree(`${RACERS} racers for ${places - taken} places of the code of ${kind}`);
    const inside = this.rows.invites.find(({ id }) => id === invite.id)!.joins.filter(({ who }) => racers.includes(who));
    if (inside.length !== (invite.state === 'open' ? places - taken : 0)) throw new Trespass(`${inside.length} for ${places - taken} places`);
  }

  private async agree(told: string): Promise<void> {
    this.rows = await this.stage.rows();
    const faults = await faultsOf(this.fixture.make, this.stage.school.id);
    if (faults) throw new Trespass(`${faults} after ${told}`);
    if (!this.rows.members.some(({ who, role, status }) => role === 'owner' && status === 'accepted' && signsIn(who)))
      throw new Trespass(`no owner can sign in after ${told}`);
  }

  /** What people see and what their keys open is what they belong to. */
  private async check(people: Iterable<number>): Promise<void> {
    const { stage, rows } = this;
    for (const who of new Set(people)) {
      if (!signsIn(who) || who >= 8) continue;
      const { visitor } = stage.people[who]!;
      const [member, parent] = [rows.members, rows.parents].map((ties) => ties.find((tie) => tie.who === who));
      const belongs = member?.status === 'accepted' || parent?.status === 'accepted';
      const wanted = manages(member) ? 200 : belongs ? 403 : 404;
      const { status } = await visitor.get(`/o/${stage.slug}/people/codes`);
      if (status !== wanted) throw new Trespass(`person ${who} gets ${status} instead of ${wanted} for the page of codes`);
      const { text } = await visitor.get('/organizations');
      const at = `"/organizations/${stage.school.id}`;
      const shown = [text.includes(`${at}/leave"`) || text.includes(`"/o/${stage.slug}"`), text.includes(`${at}/accept"`)];
      if (!isDeepStrictEqual(shown, [belongs, member?.status === 'pending' && !member.waits]))
        throw new Trespass(`person ${who} is shown ${shown.join(' and ')} as belonging and offered`);
      for (const key of stage.keys.filter(({ by }) => by === who)) {
        const answer = await this.fixture.api.get('/v1/students?limit=1', key.text);
        if (answer.status !== (rows.keys.includes(who) ? 200 : 401)) throw new Trespass(`a key of person ${who} is answered ${answer.status}`);
      }
    }
  }

  /** Codes and links that were replaced, switched off or used open nothing, and the others do. */
  private async checkSecrets(): Promise<void> {
    const { visitor } = this.stage.people[6]!;
    for (const { id, kind, state, to } of this.rows.invites) {
      const { status, text } = await visitor.get(`/join/${this.stage.secrets.get(id)!.secret}`);
      const opens = status === 200 && text.includes('Join Demo Tutoring');
      if (opens && state !== 'open') throw new Trespass(`a closed ${kind} still opens`);
      if (!opens && state === 'open' && to === null) throw new Trespass(`an open ${kind} does not open: ${status}`);
    }
  }
}

/** What somebody did that they may not, or what did not come of it, that no invariant can tell: it takes the rows of before. */
function faultOf(act: Act, before: Rows, after: Rows): string | null {
  const tie = (rows: Rows, who: number) => rows.members.find((one) => one.who === who);
  const changed = (['members', 'parents'] as const).flatMap((table) =>
    after[table].filter(
      (one) =>
        !isDeepStrictEqual(
          one,
          before[table].find(({ who }) => who === one.who),
        ),
    ),
  );
  const other = changed.find(({ who }) => !('who' in act && act.who === who));
  if (act.do === 'undo') {
    // Whoever came by the code belongs since that moment, in the same transaction, and nobody has approved them.
    const kept = changed.find(({ who, made, role }) => {
      const join = act.invite.joins.find((one) => one.who === who);
      return role !== act.invite.role || !join || join.at !== made || join.approval === 'approved' || join.at < act.moment;
    });
    if (kept) return `person ${kept.who} belonged without the code`;
  } else if (other) return `something changed for person ${other.who}`;
  const by = 'by' in act && act.by !== null ? tie(before, act.by) : null;
  const target = 'who' in act ? tie(before, act.who) : undefined;
  const owners = act.do === 'role' || (['remove', 'decide'].includes(act.do) && manages(target) && 'by' in act && act.by !== target!.who);
  const key = act.do === 'keyInvite';
  const may = by === null || (key ? before.keys.includes(by?.who ?? -1) : owners ? by?.status === 'accepted' && by.role === 'owner' : manages(by));
  const spared = act.do === 'keyRemove' && act.as === 'staff' && manages(target);
  const same = isDeepStrictEqual(before.invites, after.invites) && isDeepStrictEqual(before.keys, after.keys) && changed.length === 0;
  if (!may || spared) return same ? null : 'somebody did what only others may';
  const now = 'invite' in act ? after.invites.find(({ id }) => id === act.invite.id)! : null;
  if (act.do === 'join' && act.invite.state !== 'open') return same ? null : 'a closed invite let somebody in';
  if (act.do === 'replace' && act.invite.state !== 'closed') return now!.state === 'closed' ? null : 'a code was replaced and still opens';
  if (act.do === 'switchOff' && act.invite.state === 'open') return now!.state === 'off' ? null : 'a code was switched off and still opens';
  if (act.do !== 'leave' && act.do !== 'remove') return null;
  const owner = target?.role === 'owner' && target.status === 'accepted';
  const alone =
    owner && !before.members.some(({ who, role, status }) => who !== act.who && role === 'owner' && status === 'accepted' && signsIn(who));
  const stays = [...after.members, ...after.parents].some(({ who, status }) => who === act.who && status !== 'archived');
  return stays && !alone ? `person ${act.who} still belongs` : null;
}
