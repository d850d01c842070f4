import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { importFolder } from '../../../apps/cli/src/import/importer.js';
import { PeopleFixture } from '../data/provisioning.js';
import { Visitor } from '../portal/visitor.js';
import type { KINDS, Org, Place } from './identity-commands.js';
import type { Facts } from './identity-facts.js';
import type { IdentityFixture } from './identity-model.js';

/** What an organization does: with its key on the API, as its owner on the portal, and by importing files. */
export class Organization {
  private constructor(
    private readonly stage: IdentityFixture,
    private readonly facts: Facts,
    readonly org: Org,
    private readonly provisioning: PeopleFixture,
    private readonly tutorId: string,
    private readonly owner: Visitor,
    /** The path of its pages on the portal. */
    private readonly pages: string,
  ) {}

  static async open(stage: IdentityFixture, facts: Facts, org: Org): Promise<Organization> {
    const { api, portal, make } = stage;
    const provisioning = await PeopleFixture.open(api, make);
    const organization = await make.find('organizations', provisioning.id);
    const tutor = await make.tutor(provisioning.id);
    const { cookie } = await portal.someone('owner', { organization });
    return new Organization(stage, facts, org, provisioning, tutor.id, new Visitor(portal, cookie), `/o/${organization.slug}`);
  }

  get id(): string {
    return this.provisioning.id;
  }

  async provision(type: (typeof KINDS)[number], at: Place): Promise<void> {
    const email = this.facts.addresses[at]!;
    const { id } = await this.provisioning.inviteOne({
      type,
      first_name: 'Supplied',
      last_name: `By${this.org}`,
      email,
    });
    if (!id) return;
    this.known.set(at, id);
    if (type !== 'parent') return;
    const child = await this.stage.make.student(this.id);
    await this.provisioning.post(`/v1/parents/${id}/link-student`, { student_id: child.id });
  }

  async changeAddress(at: Place, to: Place): Promise<void> {
    const { make } = this.stage;
    const { addresses, secrets, accepted } = this.facts;
    const id = this.known.get(at);
    if (!id || at === to) return;
    const [login] = await make.query<{ email: string }>('SELECT email FROM users WHERE id = $1', [id]);
    const former = addresses.indexOf(login!.email);
    const changes = { email: addresses[to], first_name: 'Changed', last_name: `By${this.org}` };
    const { status } = await this.provisioning.send('patch', `/v1/students/${id}`, changes);
    const [moved] = await make.query('SELECT FROM users WHERE id = $1 AND email_normalized = $2', [id, addresses[to]]);
    if (status !== 200 || !moved || former === to) return;
    this.known.delete(at);
    this.known.set(to, id);
    // A new address means a new person, who does not own the former person's data.
    await make.query('DELETE FROM results WHERE student_id = $1', [id]);
    await make.query('DELETE FROM conversation_participants WHERE user_id = $1', [id]);
    secrets[former]!.clear();
    accepted[former]!.clear();
  }

  /** @param to null for a code */
  async invite(role: 'student' | 'tutor', to: Place | null): Promise<void> {
    const email = to === null ? undefined : this.facts.addresses[to];
    const { status, body } = await this.provisioning.post('/v1/invites', { scope: 'organization', role, email });
    if (status === 201) this.facts.tokens[this.org]!.push({ token: (body as { token: string }).token, to });
  }

  async sendInvite(at: Place): Promise<void> {
    const id = this.known.get(at);
    if (!id) return;
    for (const list of ['students', 'parents']) await this.provisioning.post(`/v1/${list}/${id}/send-invite`);
  }

  async archive(at: Place): Promise<void> {
    const id = this.known.get(at);
    if (!id) return;
    for (const path of ['students', 'tutors', 'parents']) await this.provisioning.post(`/v1/${path}/${id}/offboard`, {});
    const { accepted, secrets, seen, addresses } = this.facts;
    const [here] = await this.stage.make.query('SELECT FROM users WHERE id = $1 AND email_normalized = $2', [id, addresses[at]]);
    if (!here || !accepted[at]!.delete(this.org)) return;
    for (const secret of secrets[at]!) seen[this.org]!.add(secret);
  }

  /** The owner approves or declines a tutor who waits for approval. */
  async decide(at: Place, approve: boolean): Promise<void> {
    const id = this.known.get(at);
    if (id) await this.owner.post(`${this.pages}/people/members/${id}/${approve ? 'approve' : 'decline'}`);
  }

  async import(at: Place): Promise<void> {
    const { make, api } = this.stage;
    const email = this.facts.addresses[at]!;
    const [known] = await make.query<{ id: string }>('SELECT id FROM users WHERE email_normalized = $1', [email]);
    const id = known?.id ?? uuidv7();
    const user = { id, email, first_name: 'Imported', last_name: `By${this.org}` };
    const member = { id: uuidv7(), user_id: id, role: 'student', status: 'accepted', accepted_at: '2020-01-01' };
    const folder = await mkdtemp(join(tmpdir(), 'tutoring-model-'));
    try {
      await writeFile(join(folder, 'users.ndjson'), JSON.stringify(user));
      await writeFile(join(folder, 'members.ndjson'), JSON.stringify(member));
      await importFolder({ url: api.database.applicationUrl, organizationId: this.id, folder });
      this.known.set(at, id);
    } catch {
      // The import rejected a row.
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** Writes what an organization can write about somebody: feedback in their name and a session. */
  async teach(at: Place): Promise<void> {
    const { make } = this.stage;
    const id = this.known.get(at);
    if (!id) return;
    await make.feedback(this.id, this.tutorId, { reviewerId: id, comment: 'Good', isPublic: true });
    const [member] = await make.query('SELECT FROM members WHERE organization_id = $1 AND user_id = $2', [this.id, id]);
    if (member) await make.session(this.id, { studentId: id, tutorId: this.tutorId });
  }

  /** Everything that the organization can read, on the API and on the portal. */
  async readAll(): Promise<string> {
    const ids = [...this.known.values()];
    const paths = [
      ...['students', 'tutors', 'parents', 'results', 'conversations', 'session-feedback', 'homework'],
      ...['reports/summary', `tutors/${this.tutorId}/reviews`, 'session-feedback?anonymize=true'],
      ...ids.flatMap((id) => [`parents/${id}`, `tutors/${id}/reviews`]),
    ];
    const answers = await Promise.all([
      ...paths.map((path) => this.stage.api.get(`/v1/${path}`, this.provisioning.key)),
      ...['people', 'people/invites', 'outbox'].map((path) => this.owner.get(`${this.pages}/${path}`)),
    ]);
    return answers.map(({ text }) => text).join('\n');
  }

  private get known(): Map<Place, string> {
    return this.facts.known[this.org]!;
  }
}
