import { newAddress, type PeopleFixture } from '../data/provisioning.js';
import { type JoinFixture, registration, TUTOR } from './join-fixture.js';
import { Visitor } from './visitor.js';

/** An organization whose owner is signed in on the portal. */
export class PeoplePages {
  private constructor(
    private readonly joining: JoinFixture,
    readonly provisioning: PeopleFixture,
    readonly owner: Visitor,
    readonly ownerId: string,
    /** The path of the organization's people page. */
    readonly base: string,
  ) {}

  static async open(joining: JoinFixture): Promise<PeoplePages> {
    const provisioning = await joining.provisioning();
    const organization = await joining.portal.make.find('organizations', provisioning.id);
    const { cookie, user } = await joining.portal.someone('owner', { organization });
    const base = `/o/${organization.slug}/people`;
    return new PeoplePages(joining, provisioning, new Visitor(joining.portal, cookie), user.id, base);
  }

  /** The details and actors in the organization's audit rows for an operation. */
  async audited(operation: string): Promise<object[]> {
    const rows = (await this.joining.portal.audited(this.provisioning.id)).filter((row) => row.operation === operation);
    return rows.map(({ by, details }) => ({ ...details, by }));
  }

  /** A tutor who joined by code and waits for approval. */
  async waitingTutor(provisioning = this.provisioning): Promise<{ id: string; email: string; visitor: Visitor }> {
    const [visitor, email] = [this.joining.visitor(), newAddress()];
    const code = await this.joining.invite(provisioning, TUTOR);
    await visitor.post(`/join/${code}`, { ...registration(email), first_name: 'Waiting' });
    const login = await this.joining.loginOf(email);
    return { id: login!.id as string, email, visitor };
  }
}
