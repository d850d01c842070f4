import { isDeepStrictEqual } from 'node:util';
import type { Command, Single } from './belonging-commands.js';
import type { Belonging } from './belonging-oracle.js';
import type { Act, CodeKind } from './belonging-state.js';
import { expected, type Observed } from './belonging-facts.js';
import { BelongingStage, signsIn } from './belonging-organization.js';
import type { IdentityFixture } from './identity-model.js';

/** The organization is not what the oracle says, or somebody sees or does what they may not. */
export class Trespass extends Error {}

const RACERS = 20;

/** Runs sequences of commands against the real API and portal, and compares who belongs as what with an oracle in memory. */
export class BelongingModel {
  /** When each command began, by the oracle's clock and the real one. */
  private readonly moments: { since: number; moment: string }[] = [];

  private constructor(
    private readonly stage: BelongingStage,
    private readonly fixture: IdentityFixture,
    private belonging: Belonging,
  ) {}

  /** @throws Trespass */
  static async run(fixture: IdentityFixture, commands: Command[]): Promise<void> {
    const model = new BelongingModel(...reordered(await BelongingStage.open(fixture), fixture));
    const elsewhere = await model.stage.elsewhere();
    await model.agree([model.belonging], 'the beginning');
    for (const command of commands) {
      model.moments.push({ since: model.belonging.s.clock + 1, moment: new Date().toISOString() });
      await model.step(command);
    }
    await model.check(model.stage.people.keys());
    await model.checkLists();
    await model.checkSecrets();
    if ((await model.stage.elsewhere()) !== elsewhere) throw new Trespass('the other organization has changed');
  }

  private async step(command: Command): Promise<void> {
    if (command.do === 'race') return this.race(command.kind, command.left);
    const singles = command.do === 'both' ? command.acts : [command];
    const acts = singles.flatMap((single) => this.resolved(single) ?? []);
    const before = this.belonging;
    const begun = acts.map((act) => () => this.stage.do(act, before));
    await (acts.length === 2 ? this.stage.together(begun) : begun[0]?.());
    const orders = acts.length === 2 ? [acts, acts.toReversed()] : [acts];
    await this.agree(
      orders.map((order) => before.after(...order)),
      JSON.stringify(acts),
    );
    await this.check(acts.flatMap((act) => ['who' in act ? act.who : null, 'by' in act ? act.by : null].filter((one) => one !== null)));
  }

  /** The command with what it is about; null if there is nothing. */
  private resolved(single: Single): Act | null {
    if (single.do === 'openMail') {
      const invite = this.newest(({ to }) => to === single.who);
      return invite === null ? null : { do: single.accept ? 'join' : 'declineMail', who: single.who, invite };
    }
    if (!('kind' in single)) return single;
    const { kind, nth, ...act } = single;
    const invite = this.newest((one) => one.kind === kind, nth)!;
    if (act.do !== 'undo') return { ...act, invite };
    const moment = this.moments[Math.max(0, this.moments.length - 1 - act.back)]!;
    return { do: 'undo', by: act.by, invite, ...moment };
  }

  /** The place of the newest invite of this kind, or of one before it. */
  private newest(which: (invite: Belonging['s']['invites'][number]) => boolean, nth = 0): number | null {
    const places = this.belonging.s.invites.flatMap((invite, place) => (which(invite) ? [place] : [])).toReversed();
    return places[nth % places.length] ?? null;
  }

  /** Twenty people open a code that has few places left: so many get in, whoever they are. */
  private async race(kind: CodeKind, left: number): Promise<void> {
    const { stage } = this;
    const place = this.newest((one) => one.kind === kind)!;
    const racers = await stage.add(RACERS);
    const invite = this.belonging.s.invites[place]!;
    const taken = this.belonging.taken(invite);
    invite.places = Math.max(1, taken + left);
    await stage.limit(invite.id!, invite.places);
    const joins = racers.map((who): Act => ({ do: 'join', who, invite: place }));
    await Promise.all(joins.map((act) => stage.do(act, this.belonging)));
    const { members, parents } = await stage.observe();
    const inside = new Set([...members, ...parents].map((text) => Number.parseInt(text)));
    const order = joins.toSorted((a, b) => Number(inside.has(b.do === 'join' ? b.who : 0)) - Number(inside.has(a.do === 'join' ? a.who : 0)));
    await this.agree([this.belonging.after(...order)], `20 racers for ${left} places of the code of ${kind}`);
  }

  /** Continues with the first of the possible outcomes that is the real one. */
  private async agree(possible: Belonging[], after: string): Promise<void> {
    const observed = await this.stage.observe();
    if (!observed.members.some((text) => /^\d+ owner accepted/.test(text) && signsIn(Number.parseInt(text))))
      throw new Trespass(`no owner can sign in after ${after}`);
    const real = possible.find((belonging) => named(belonging, observed));
    if (!real) {
      throw new Trespass(`after ${after}: ${possible.map((one) => difference(one, observed)).join('; or ')}`);
    }
    this.belonging = real;
    await this.stage.learn(observed, real);
  }

  /** What people see and what their keys open is what they belong to. */
  private async check(people: Iterable<number>): Promise<void> {
    const { stage, belonging } = this;
    for (const who of new Set(people)) {
      if (!signsIn(who) || who >= 8) continue;
      const { visitor } = stage.people[who]!;
      const role = belonging.role(who);
      const wanted = role === 'owner' || role === 'admin' ? 200 : belonging.belongs(who) ? 403 : 404;
      const { status } = await visitor.get(`/o/${stage.slug}/people/codes`);
      if (status !== wanted) throw new Trespass(`person ${who} gets ${status} instead of ${wanted} for the page of codes`);
      const { text } = await visitor.get('/organizations');
      const shown = [text.includes(`"/organizations/${stage.school.id}/leave"`) || text.includes(`"/o/${stage.slug}"`), text.includes(`"/organizations/${stage.school.id}/accept"`)]; // prettier-ignore
      if (!isDeepStrictEqual(shown, [belonging.belongs(who), belonging.offered(who)]))
        throw new Trespass(`person ${who} is shown ${shown.join(' and ')} as belonging and offered`);
      for (const key of stage.keys.filter(({ by }) => by === who)) {
        const { status } = await this.fixture.api.get('/v1/students?limit=1', key.text);
        const works = belonging.s.keys.get(who) ? 200 : 401;
        if (status !== works) throw new Trespass(`a key of person ${who} is answered ${status} instead of ${works}`);
      }
    }
  }

  /** The lists of the API name those who belong, and nobody who waits for approval. */
  private async checkLists(): Promise<void> {
    const { stage, belonging } = this;
    const { members, parents } = belonging.s;
    const ids = (list: Iterable<number>) => [...list].map((who) => stage.people[who]!.id).sort();
    const role = (wanted: string[]) => [...members].filter(([, one]) => one.status === 'accepted' && wanted.includes(one.role)).map(([who]) => who);
    const wanted = {
      '/v1/students': ids(role(['student'])),
      '/v1/tutors': ids(role(['tutor', 'admin', 'owner'])),
      '/v1/parents': ids([...parents].filter(([, one]) => one.status === 'accepted' && one.linked).map(([who]) => who)),
    };
    for (const [path, expects] of Object.entries(wanted)) {
      const listed = await stage.school.list(path);
      const found = listed.filter(({ id, status }) => (status === 'accepted' || status === undefined) && stage.people.some((one) => one.id === id));
      const real = found.map(({ id }) => id as string).sort();
      if (!isDeepStrictEqual(real, expects)) throw new Trespass(`${path} lists ${JSON.stringify(real)} instead of ${JSON.stringify(expects)}`);
    }
  }

  /** Codes and links that were replaced, switched off or used open nothing, and the others do. */
  private async checkSecrets(): Promise<void> {
    const visitor = this.stage.people[6]!.visitor;
    for (const invite of this.belonging.s.invites) {
      const { secret } = this.stage.secrets.get(invite.id!)!;
      const { status, text } = await visitor.get(`/join/${secret}`);
      const opens = status === 200 && text.includes('Join Demo Tutoring');
      if (opens && invite.state !== 'open') throw new Trespass(`a closed ${invite.kind} still opens`);
      if (!opens && invite.state === 'open' && invite.to === null) throw new Trespass(`an open ${invite.kind} does not open: ${status}`);
    }
  }
}

const reordered = ([stage, belonging]: [BelongingStage, Belonging], fixture: IdentityFixture) => [stage, fixture, belonging] as const;

/** Whether this is what is real. Then gives new invites their ids. */
function named(belonging: Belonging, observed: Observed): boolean {
  const { invites: wanted, ...rest } = expected(belonging);
  const { invites, ...real } = observed;
  if (!isDeepStrictEqual(rest, real) || wanted.length !== invites.length) return false;
  const left = [...invites];
  const ids = wanted.map(({ id, text }) => {
    const place = left.findIndex((one) => (id === null || one.id === id) && one.text === text && (id !== null || isNew(one.id)));
    return place < 0 ? null : left.splice(place, 1)[0]!.id;
  });
  if (ids.includes(null)) return false;
  for (const [place, id] of ids.entries()) belonging.s.invites[place]!.id = id;
  return true;

  function isNew(id: string): boolean {
    return !wanted.some((one) => one.id === id);
  }
}

/** What the oracle expects and what is there instead. */
function difference(belonging: Belonging, observed: Observed): string {
  const lines = ({ members, parents, inClass, keys, invites }: ReturnType<typeof expected>) => [
    ...members.map((text) => `member ${text}`),
    ...parents.map((text) => `parent ${text}`),
    ...inClass.map((who) => `${who} in the class`),
    ...keys.map((who) => `a key of ${who}`),
    ...invites.map(({ text }) => text),
  ];
  const [wanted, real] = [lines(expected(belonging)), lines(observed)];
  return `expected ${wanted.filter((line) => !real.includes(line)).join(', ')}; found ${real.filter((line) => !wanted.includes(line)).join(', ')}`;
}
