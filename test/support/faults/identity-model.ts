import { v7 as uuidv7 } from 'uuid';
import type { Factories } from '../data/factories.js';
import type { TestApi } from '../http/api.js';
import type { TestPortal } from '../portal/portal.js';
import { mailsTo } from '../worker/mailbox.js';
import { type Command, type Means, type Org, ORGS, type Place, PLACES } from './identity-commands.js';
import { Facts } from './identity-facts.js';
import { Organization } from './identity-organization.js';
import { type Link, People } from './identity-people.js';
import { faultsOf } from './invariants.js';

/** Somebody saw or gained something against another person's will. */
export class Breach extends Error {}

/** Where sequences run: the API, and the portal on the same database. */
export interface IdentityFixture {
  api: TestApi;
  portal: TestPortal;
  make: Factories;
}

/** Runs sequences of commands against the real API and portal, over HTTP, and tracks who may know what. */
export class Identities {
  private readonly people: People;

  private constructor(
    private readonly stage: IdentityFixture,
    private readonly facts: Facts,
    private readonly organizations: Organization[],
  ) {
    this.people = new People(stage, facts.addresses);
  }

  /** @throws Breach */
  static async run(stage: IdentityFixture, commands: Command[]): Promise<void> {
    const facts = new Facts();
    const organizations = [];
    for (const org of ORGS) organizations.push(await Organization.open(stage, facts, org));
    const model = new Identities(stage, facts, organizations);
    for (const command of commands) await model.steps[command.do](command as never);
    // Gives everybody who can sign in something to hide.
    for (const at of PLACES) await model.live(at);
    await model.check();
  }

  /** What each command does. */
  private readonly steps: { [K in Command['do']]: (command: Extract<Command, { do: K }>) => Promise<unknown> } = {
    provision: ({ org, kind, at }) => this.at(org).provision(kind, at),
    change: ({ org, at, to }) => this.at(org).changeAddress(at, to),
    invite: ({ org, at }) => this.at(org).invite('student', at),
    code: ({ org, role }) => this.at(org).invite(role, null),
    decide: ({ org, at, approve }) => this.at(org).decide(at, approve),
    archive: ({ org, at }) => this.at(org).archive(at),
    sendInvite: ({ org, at }) => this.at(org).sendInvite(at),
    import: ({ org, at }) => this.at(org).import(at),
    teach: ({ org, at }) => this.at(org).teach(at),
    openAnswer: ({ org, by, using }) => this.openAnswer(org, by, using),
    openMail: ({ at, using }) => this.openMail(at, using),
    answer: ({ org, by, accept }) => this.answer(org, by, accept),
    lure: ({ by }) => this.lure(by),
    signIn: ({ by, at }) => this.people.signIn(by, at),
    addPasskey: ({ by }) => this.people.addPasskey(by),
    usePasskey: ({ by }) => this.people.usePasskey(by),
    resetPassword: ({ at }) => this.people.resetPassword(at),
    live: ({ at }) => this.live(at),
  };

  private at(org: Org): Organization {
    return this.organizations[org]!;
  }

  /**
   * The attacker opens any link in the hostile organization's responses, and claims the first victim's address if a
   * code lets them choose. Others open links meant for them.
   */
  private async openAnswer(org: Org, by: Place, using: Means): Promise<void> {
    const attacks = by === 0 && org === 0;
    const answered = this.facts.tokens[org]!.findLast(({ to }) => attacks || to === null || to === by);
    if (!answered) return;
    await this.open(org, { token: answered.token, proof: null }, by, answered.to ?? (attacks ? 1 : by), using);
  }

  private async openMail(at: Place, using: Means): Promise<void> {
    const { api, make } = this.stage;
    const mails = await mailsTo(api, make, this.facts.addresses[at]!);
    const mail = mails.find(({ token, proof }) => token !== '' && proof !== '');
    if (!mail) return;
    const org = this.organizations.findIndex(({ id }) => id === mail.organizationId) as Org;
    await this.open(org, mail, at, at, using);
  }

  private async open(org: Org, link: Link, by: Place, to: Place, using: Means): Promise<void> {
    const joined = await this.people.join(link, by, to, using);
    if (!joined) return;
    this.facts.known[org]!.set(joined.at, joined.userId);
    if (by === joined.at) this.facts.accepted[by]!.add(org);
  }

  private async answer(org: Org, by: Place, accept: boolean): Promise<void> {
    if ((await this.people.answer(by, this.at(org).id, accept)) === by) this.facts.accepted[by]!.add(org);
  }

  /** The attacker's site accepts the hostile organization's newest code or link in somebody's browser. */
  private async lure(by: Place): Promise<void> {
    const answered = this.facts.tokens[0]!.findLast(({ to }) => to === null || to === by);
    if (answered) await this.people.lure(by, answered.token);
  }

  /** Signs in if possible and adds personal data to the login. */
  private async live(at: Place): Promise<void> {
    const { make } = this.stage;
    if (at === 0) return;
    let session = await this.people.session(at);
    if (session?.email !== this.facts.addresses[at]) {
      // Most sequences end without a password here, and most sign-ins would be in vain.
      const tries = await this.hasPassword(at);
      session = tries && (await this.people.signIn(at, at)) ? await this.people.session(at) : null;
    }
    if (!session) return;
    const name = `Canary${at}x${uuidv7().slice(-12)}`;
    await session.browser.post('/account/name', { first_name: name, last_name: name });
    const result = await make.result(session.userId);
    const { id } = await make.conversation({ title: `Talk of ${name}`, participants: [session.userId] });
    for (const secret of [name, result.id, id]) this.facts.secrets[at]!.add(secret);
  }

  private async hasPassword(at: Place): Promise<boolean> {
    const [row] = await this.stage.make.query(
      'SELECT FROM credentials c JOIN users u ON u.id = c.user_id WHERE u.email_normalized = $1 AND password_hash IS NOT NULL',
      [this.facts.addresses[at]],
    );
    return row !== undefined;
  }

  private async check(): Promise<void> {
    for (const { id } of this.organizations) {
      const faults = await faultsOf(this.stage.make, id);
      if (faults) throw new Breach(faults);
    }
    await this.checkMemberships();
    const trespass = await this.people.trespass();
    if (trespass) throw new Breach(trespass);
    const { accepted, secrets, seen } = this.facts;
    for (const org of ORGS) {
      const secret = PLACES.filter((place) => !accepted[place]!.has(org)).flatMap((place) => [...secrets[place]!]);
      const hidden = secret.filter((one) => !seen[org]!.has(one));
      if (hidden.length === 0) continue;
      refuse(hidden, await this.at(org).readAll(), `organization ${org}`);
    }
    for (const by of PLACES) {
      const hidden = PLACES.filter((place) => place !== by).flatMap((place) => [...secrets[place]!]);
      if (hidden.length > 0) refuse(hidden, await this.people.readAll(by), `person ${by}`);
    }
  }

  private async checkMemberships(): Promise<void> {
    const { addresses, accepted: wanted } = this.facts;
    for (const at of [1, 2] as const) {
      const [login] = await this.stage.make.query<{ verified: boolean; accepted: string[] }>(
        `SELECT email_verified_at IS NOT NULL AS verified, ARRAY(
           SELECT organization_id::text FROM members WHERE user_id = u.id AND accepted_at IS NOT NULL
           UNION SELECT organization_id::text FROM parents WHERE user_id = u.id AND accepted_at IS NOT NULL) AS accepted
         FROM users u WHERE email_normalized = $1`,
        [addresses[at]],
      );
      if (!login) continue;
      const { verified, accepted } = login;
      if (!verified && accepted.length > 1) throw new Breach(`address ${at} is in two organizations without a proof`);
      const unwanted = accepted.filter((id) => !wanted[at]!.has(this.organizations.findIndex((organization) => organization.id === id) as Org));
      if (verified && unwanted.length > 0) throw new Breach(`person ${at} is a member without having accepted`);
      if (verified && (await this.people.signIn(0, at))) throw new Breach(`the attacker signs in at address ${at}`);
    }
  }
}

/** @throws Breach if the text contains a secret */
function refuse(hidden: string[], text: string, reader: string): void {
  const found = hidden.find((secret) => text.includes(secret));
  if (found) throw new Breach(`${reader} reads ${found}`);
}
