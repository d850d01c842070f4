import { newAddress, type Office } from '../data/provisioning.js';
import { type JoinDesk, registration } from './join-desk.js';
import { Visitor } from './visitor.js';

/** An organization whose owner is signed in on the portal. */
export class PeoplePages {
  private constructor(
    private readonly desk: JoinDesk,
    readonly office: Office,
    readonly owner: Visitor,
    readonly ownerId: string,
    /** The path of the organization's people page. */
    readonly base: string,
  ) {}

  static async open(desk: JoinDesk): Promise<PeoplePages> {
    const office = await desk.office();
    const organization = await desk.portal.make.find('organizations', office.id);
    const { cookie, user } = await desk.portal.someone('owner', { organization });
    const base = `/o/${organization.slug}/people`;
    return new PeoplePages(desk, office, new Visitor(desk.portal, cookie), user.id, base);
  }

  /** The details and actors in the organization's audit rows for an operation. */
  async audited(operation: string): Promise<object[]> {
    const rows = await this.desk.portal.make.query<{ by: string; details: object }>(
      'SELECT user_id AS by, details FROM audit_log WHERE organization_id = $1 AND operation = $2',
      [this.office.id, operation],
    );
    return rows.map(({ by, details }) => ({ ...details, by }));
  }

  /** A tutor who joined by code and waits for approval. */
  async waitingTutor(office = this.office): Promise<{ id: string; email: string; visitor: Visitor }> {
    const [visitor, email] = [this.desk.visitor(), newAddress()];
    const code = await this.desk.invite(office, { scope: 'organization', role: 'tutor' });
    await visitor.post(`/join/${code}`, { ...registration(email), first_name: 'Waiting' });
    const login = await this.desk.loginOf(email);
    return { id: login!.id as string, email, visitor };
  }
}
