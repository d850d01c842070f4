import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { Approvals, Joining, type Joiner, PasswordLinks, SignIn } from '@app/accounts';
import { Vault } from '@app/config';
import type { EmailPayload } from '@app/jobs';
import { importFolder } from '../../../apps/cli/src/import/importer.js';
import type { TestApi } from '../http/api.js';
import type { Factories } from '../data/factories.js';
import { mailsTo } from '../worker/mailbox.js';
import { newAddress, Office } from '../data/provisioning.js';
import type { TestPortal } from '../portal/portal.js';
import { Browsers, newPasskey } from './identity-browsers.js';
import { describeState } from './identity-state.js';
import { type Command, type KINDS, type Means, type Org, ORGS, type Place, PLACES } from './identity-commands.js';

/** Somebody saw or gained something against another person's will. */
export class Breach extends Error {}

interface Answered {
  token: string;
  /** The invited address; null for a code. */
  to: Place | null;
}

/** Where sequences run: the API, and the portal on the same database. */
export interface Stage {
  api: TestApi;
  portal: TestPortal;
  make: Factories;
}

/** Runs sequences of commands against the real API and portal, and tracks who may know what. */
export class Identities {
  private readonly addresses = PLACES.map(() => newAddress());
  private readonly tokens: Answered[][] = ORGS.map(() => []);
  /** Login ids that each organization has learned, by the address that it knows. */
  private readonly known = ORGS.map(() => new Map<Place, string>());
  /** The organizations that each person has accepted. */
  private readonly accepted: Set<Org>[] = PLACES.map(() => new Set());
  /** Secrets that only organizations accepted by the person may see. */
  private readonly secrets: Set<string>[] = PLACES.map(() => new Set());
  private readonly tutors: string[] = [];

  private readonly api: TestApi;
  private readonly portal: TestPortal;
  private readonly make: Factories;
  private readonly browsers: Browsers;

  private constructor(
    { api, portal, make }: Stage,
    private readonly offices: Office[],
  ) {
    [this.api, this.portal, this.make] = [api, portal, make];
    this.browsers = new Browsers(portal, make, this.addresses);
  }

  /**
   * @returns a description of the final state if `describe` is set, else null
   * @throws Breach
   */
  static async run(stage: Stage, commands: Command[], describe = false): Promise<string | null> {
    const { api, make } = stage;
    const model = new Identities(stage, [await Office.open(api, make), await Office.open(api, make)]);
    for (const office of model.offices) model.tutors.push((await make.tutor(office.id)).id);
    for (const command of commands) await model.step(command);
    const signature = describe ? await model.signature() : null;
    // Gives everybody who can sign in something to hide.
    for (const at of PLACES) await model.live(at);
    await model.check();
    return signature;
  }

  private password(place: Place): string {
    return `password of person ${place}`;
  }

  private async step(command: Command): Promise<void> {
    switch (command.do) {
      case 'provision':
        return this.provision(command.org, command.kind, command.at);
      case 'change':
        return this.change(command.org, command.at, command.to);
      case 'invite':
      case 'code': {
        const to = command.do === 'invite' ? command.at : null;
        const email = to === null ? undefined : this.addresses[to];
        const role = command.do === 'code' ? command.role : 'student';
        const wish = { scope: 'organization', role, email };
        const { status, body } = await this.offices[command.org]!.post('/v1/invites', wish);
        if (status === 201) this.tokens[command.org]!.push({ token: (body as { token: string }).token, to });
        return;
      }
      case 'openAnswer':
        return this.openAnswer(command.org, command.by, command.using);
      case 'openMail':
        return this.openMail(command.at, command.using);
      case 'signIn':
        return this.browsers.signIn(command.by, command.at, this.password(command.by));
      case 'addPasskey':
        return this.browsers.addPasskey(command.by);
      case 'usePasskey':
        return this.browsers.usePasskey(command.by);
      case 'resetPassword':
        return this.resetPassword(command.at);
      case 'decide':
        return this.decide(command.org, command.at, command.approve);
      case 'live':
        return this.live(command.at);
      case 'archive': {
        const values = [this.offices[command.org]!.id, this.known[command.org]!.get(command.at)];
        for (const table of ['members', 'parents']) {
          await this.make.query(
            `UPDATE ${table} SET status = 'archived' WHERE organization_id = $1 AND user_id = $2`,
            values,
          );
        }
        return;
      }
      case 'sendInvite': {
        const id = this.known[command.org]!.get(command.at);
        if (!id) return;
        for (const list of ['students', 'parents']) {
          await this.offices[command.org]!.post(`/v1/${list}/${id}/send-invite`);
        }
        return;
      }
      case 'import':
        return this.import(command.org, command.at);
      case 'teach':
        return this.teach(command.org, command.at);
    }
  }

  private async provision(org: Org, type: (typeof KINDS)[number], at: Place): Promise<void> {
    const office = this.offices[org]!;
    const { id } = await office.inviteOne({
      type,
      first_name: 'Supplied',
      last_name: `By${org}`,
      email: this.addresses[at]!,
    });
    if (!id) return;
    this.known[org]!.set(at, id);
    if (type !== 'parent') return;
    const child = await this.make.student(office.id);
    await office.post(`/v1/parents/${id}/link-student`, { student_id: child.id });
  }

  private async change(org: Org, at: Place, to: Place): Promise<void> {
    const id = this.known[org]!.get(at);
    if (!id || at === to) return;
    const [login] = await this.make.query<{ email: string }>('SELECT email FROM users WHERE id = $1', [id]);
    const former = this.addresses.indexOf(login!.email);
    const changes = { email: this.addresses[to], first_name: 'Changed', last_name: `By${org}` };
    const { status } = await this.offices[org]!.send('patch', `/v1/students/${id}`, changes);
    const [moved] = await this.make.query('SELECT FROM users WHERE id = $1 AND email_normalized = $2', [
      id,
      this.addresses[to],
    ]);
    if (status !== 200 || !moved || former === to) return;
    this.known[org]!.delete(at);
    this.known[org]!.set(to, id);
    // A new address means a new person, who does not own the former person's data.
    await this.make.query('DELETE FROM results WHERE student_id = $1', [id]);
    await this.make.query('DELETE FROM conversation_participants WHERE user_id = $1', [id]);
    this.secrets[former]!.clear();
    this.accepted[former]!.clear();
  }

  /**
   * The attacker opens any link in the hostile organization's responses, and claims the first victim's address if a
   * code lets them choose. Others open links meant for them.
   */
  private async openAnswer(org: Org, by: Place, using: Means): Promise<void> {
    const attacks = by === 0 && org === 0;
    const answered = this.tokens[org]!.findLast(({ to }) => attacks || to === null || to === by);
    if (answered) await this.open(org, answered.token, null, by, answered.to ?? (attacks ? 1 : by), using);
  }

  private async openMail(at: Place, using: Means): Promise<void> {
    const mail = (await mailsTo(this.api, this.make, this.addresses[at]!)).find(({ token }) => token !== '');
    if (!mail) return;
    const org = this.offices.findIndex(({ id }) => id === mail.organizationId) as Org;
    await this.open(org, mail.token, mail.proof, at, at, using);
  }

  private async open(org: Org, token: string, proof: string | null, by: Place, to: Place, using: Means): Promise<void> {
    const email = this.addresses[to]!;
    const named = { email, firstName: 'Given', lastName: `By${by}` };
    const session = using === 'session' ? await this.browsers.session(by) : null;
    const passkey = using === 'passkey' ? newPasskey(await this.idOf(email)) : null;
    const who: Joiner = session
      ? { signedInAs: session.userId }
      : passkey
        ? { ...named, passkey }
        : { ...named, password: this.password(by) };
    const outcome = await this.portal.app.get(Joining).accept(token, proof, who, 'model');
    if (outcome.status !== 'joined') return;
    const at = session?.at ?? to;
    const { credentialId } = passkey ?? {};
    if (credentialId && outcome.shown && 'credentialId' in outcome.shown)
      this.browsers.keepPasskey({ by, at, credentialId });
    this.known[org]!.set(at, outcome.userId);
    if (by === at) this.accepted[by]!.add(org);
  }

  /** The id of the login with this address, or an unused id. */
  private async idOf(email: string): Promise<string> {
    const [login] = await this.make.query<{ id: string }>('SELECT id FROM users WHERE email_normalized = $1', [email]);
    return login?.id ?? uuidv7();
  }

  /** Resets the password through the mailed link. This implies no consent to any organization. */
  private async resetPassword(at: Place): Promise<void> {
    const links = this.portal.app.get(PasswordLinks);
    await links.request('password_reset', this.addresses[at]!);
    await this.portal.resolveLinks();
    const [mail] = await this.make.query<{ payload: Buffer }>(
      `SELECT payload FROM outbox WHERE kind = 'password_reset' AND recipient = $1 ORDER BY id DESC LIMIT 1`,
      [this.addresses[at]],
    );
    if (!mail) return;
    const { joinUrl } = JSON.parse(this.api.app.get(Vault).open('outbox payloads', mail.payload)) as EmailPayload;
    await links.use(joinUrl!.slice(joinUrl!.lastIndexOf('/') + 1), {
      password: this.password(at),
      replaces: true,
    });
  }

  /** An owner approves or declines a tutor who waits for approval. */
  private async decide(org: Org, at: Place, approve: boolean): Promise<void> {
    const id = this.known[org]!.get(at);
    if (!id) return;
    const by = { userId: this.tutors[org]!, requestId: 'model' };
    const organization = { name: 'Model', timeZone: 'UTC' };
    const provisioner = { organizationId: this.offices[org]!.id, organization, keyId: null };
    await this.portal.app.get(Approvals)[approve ? 'approve' : 'decline'](provisioner, by, id);
  }

  /** Signs in if possible and adds personal data to the login. */
  private async live(at: Place): Promise<void> {
    const email = this.addresses[at]!;
    const session = await this.browsers.session(at);
    const login =
      session?.email === email
        ? { id: session.userId }
        : await this.portal.app.get(SignIn).withPassword(email, this.password(at));
    if (!login || at === 0) return;
    const name = `Canary${at}x${uuidv7().slice(-12)}`;
    await this.make.query('UPDATE users SET first_name = $2, last_name = $2 WHERE id = $1', [login.id, name]);
    const result = await this.make.result(login.id);
    const { id } = await this.make.conversation({ title: `Talk of ${name}`, participants: [login.id] });
    for (const secret of [name, result.id, id]) this.secrets[at]!.add(secret);
  }

  private async import(org: Org, at: Place): Promise<void> {
    const email = this.addresses[at]!;
    const [known] = await this.make.query<{ id: string }>('SELECT id FROM users WHERE email_normalized = $1', [email]);
    const id = known?.id ?? uuidv7();
    const user = { id, email, first_name: 'Imported', last_name: `By${org}` };
    const member = { id: uuidv7(), user_id: id, role: 'student', status: 'accepted', accepted_at: '2020-01-01' };
    const folder = await mkdtemp(join(tmpdir(), 'tutoring-model-'));
    try {
      await writeFile(join(folder, 'users.ndjson'), JSON.stringify(user));
      await writeFile(join(folder, 'members.ndjson'), JSON.stringify(member));
      const { applicationUrl: url } = this.api.database;
      await importFolder({ url, organizationId: this.offices[org]!.id, folder });
      this.known[org]!.set(at, id);
    } catch {
      // The import rejected a row.
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** Writes what an organization can write about somebody: feedback in their name and a session. */
  private async teach(org: Org, at: Place): Promise<void> {
    const id = this.known[org]!.get(at);
    const office = this.offices[org]!;
    if (!id) return;
    await this.make.feedback(office.id, this.tutors[org]!, { reviewerId: id, comment: 'Good', isPublic: true });
    const [member] = await this.make.query('SELECT FROM members WHERE organization_id = $1 AND user_id = $2', [
      office.id,
      id,
    ]);
    if (member) await this.make.session(office.id, { studentId: id, tutorId: this.tutors[org]! });
  }

  private async check(): Promise<void> {
    await this.checkMemberships();
    const trespass = await this.browsers.trespass();
    if (trespass) throw new Breach(trespass);
    for (const org of ORGS) {
      const hidden = PLACES.filter((place) => !this.accepted[place]!.has(org)).flatMap((place) => [
        ...this.secrets[place]!,
      ]);
      if (hidden.length === 0) continue;
      const read = await this.readAll(org);
      for (const secret of hidden) if (read.includes(secret)) throw new Breach(`organization ${org} reads ${secret}`);
    }
  }

  private async checkMemberships(): Promise<void> {
    for (const at of [1, 2] as const) {
      const [login] = await this.make.query<{ id: string; verified: boolean; accepted: string[] }>(
        `SELECT id, email_verified_at IS NOT NULL AS verified, ARRAY(
           SELECT organization_id::text FROM members WHERE user_id = u.id AND accepted_at IS NOT NULL
           UNION SELECT organization_id::text FROM parents WHERE user_id = u.id AND accepted_at IS NOT NULL) AS accepted
         FROM users u WHERE email_normalized = $1`,
        [this.addresses[at]],
      );
      if (!login) continue;
      const { verified, accepted } = login;
      if (!verified && accepted.length > 1) throw new Breach(`address ${at} is in two organizations without a proof`);
      const unwanted = accepted.filter(
        (id) => !this.accepted[at]!.has(this.offices.findIndex((office) => office.id === id) as Org),
      );
      if (verified && unwanted.length > 0) throw new Breach(`person ${at} is a member without having accepted`);
      const signIn = this.portal.app.get(SignIn);
      if (verified && (await signIn.withPassword(this.addresses[at]!, this.password(0)))) {
        throw new Breach(`the attacker signs in at address ${at}`);
      }
    }
  }

  /** Describes the resulting state. Sequences with equal signatures stay equal whatever commands follow. */
  private async signature(): Promise<string> {
    const known = this.known.map((places) => [...places].sort());
    const open = await this.browsers.stillOpen();
    const accepted = this.accepted.map((set) => [...set].sort());
    const secrets = this.secrets.map(({ size }) => size > 0);
    const organizations = this.offices.map(({ id }) => id);
    const memory = { known, open, tokens: this.tokens, accepted, secrets };
    const logins = known.flat().map(([, id]) => id);
    return describeState(this.make, { addresses: this.addresses, organizations, logins }, memory);
  }

  /** Everything that an organization can read. */
  private async readAll(org: Org): Promise<string> {
    const ids = [...this.known[org]!.values()];
    const paths = [
      ...['students', 'tutors', 'parents', 'results', 'conversations', 'session-feedback', 'homework'],
      ...['reports/summary', `tutors/${this.tutors[org]}/reviews`, 'session-feedback?anonymize=true'],
      ...ids.flatMap((id) => [`parents/${id}`, `tutors/${id}/reviews`]),
    ];
    const answers = await Promise.all(paths.map((path) => this.api.get(`/v1/${path}`, this.offices[org]!.key)));
    return answers.map(({ text }) => text).join('\n');
  }
}
