import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type Joiner, Joining } from '@app/access';
import type { NewPasskey } from '@app/people';
import { newAddress, PeopleFixture } from '../data/provisioning.js';
import { SHARED, TestApi } from '../http/api.js';
import { mailsTo, type ReceivedMail } from '../worker/mailbox.js';
import { PASSWORD, TestPortal } from './portal.js';
import { Visitor } from './visitor.js';

/** Invites to an organization. */
export const STUDENT = { scope: 'organization', role: 'student' };
export const TUTOR = { scope: 'organization', role: 'tutor' };

/** An API that creates invites and a portal that accepts them, on one database. */
export class JoinFixture {
  /** Runs a statement that sees every row. */
  readonly sql = <Row = Record<string, unknown>>(statement: string, ...values: unknown[]): Promise<Row[]> =>
    this.portal.make.query<Row>(statement, values);

  private constructor(
    readonly api: TestApi,
    readonly portal: TestPortal,
    private readonly settings: Record<string, string>,
  ) {}

  static async open(settings: Record<string, string> = {}): Promise<JoinFixture> {
    const shared = {
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      SMTP_URL: 'smtp://127.0.0.1:1',
      TRUST_PROXY: 'true',
      ...settings,
    };
    const api = await TestApi.start(shared);
    return new JoinFixture(api, await TestPortal.start(shared, api.database), shared);
  }

  /** One with {@link SHARED}. */
  static async shared(): Promise<JoinFixture> {
    return new JoinFixture(await TestApi.shared(), await TestPortal.shared(), SHARED);
  }

  /** Starts another portal on the same database. */
  another(): Promise<TestPortal> {
    return TestPortal.start(this.settings, this.api.database);
  }

  provisioning(): Promise<PeopleFixture> {
    return PeopleFixture.open(this.api, this.portal.make);
  }

  /** Creates an invite. @returns its token or code */
  async invite(provisioning: PeopleFixture, wish: object): Promise<string> {
    const { status, body } = await provisioning.post('/v1/invites', wish);
    if (status !== 201) throw new Error(`invites answered ${status}: ${JSON.stringify(body)}`);
    return (body as { token: string }).token;
  }

  /** The newest mail to an address. */
  async mail(address: string): Promise<ReceivedMail> {
    const [newest] = await mailsTo(this.api, this.portal.make, address);
    if (!newest) throw new Error(`No mail to ${address}`);
    return newest;
  }

  /** Creates somebody with a login and password who belongs to no organization. */
  async person(wish: { email?: string; verified?: boolean } = {}): Promise<{ id: string; email: string }> {
    const { email, verified = true } = wish;
    const user = await this.portal.make.user(email ? { email } : {});
    await this.portal.setPassword(user.id);
    if (verified) await this.portal.make.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [user.id]);
    return user;
  }

  /** Accepts an invite without going through the page. */
  accept(secret: string, proof: string | null, who: Joiner) {
    return this.portal.app.get(Joining).accept(secret, proof, who, 'request-1');
  }

  /** Like {@link accept}. @returns the id of the login */
  async joined(secret: string, proof: string | null, who: Joiner): Promise<string> {
    const outcome = await this.accept(secret, proof, who);
    if (outcome.status !== 'joined') throw new Error(outcome.problem);
    return outcome.userId;
  }

  /** The credentials of the login with this address. */
  async loginOf(email: string) {
    const [login] = await this.portal.make.query(
      `SELECT u.id, u.email_verified_at IS NOT NULL AS verified, c.password_hash IS NOT NULL AS password,
         (SELECT count(*)::int FROM passkeys p WHERE p.user_id = u.id) AS passkeys
       FROM users u LEFT JOIN credentials c ON c.user_id = u.id WHERE u.email_normalized = $1`,
      [email],
    );
    return login ?? null;
  }

  visitor(): Visitor {
    return new Visitor(this.portal);
  }

  async signedIn(userId: string): Promise<Visitor> {
    return new Visitor(this.portal, await this.portal.session(userId));
  }

  async stop(): Promise<void> {
    await this.portal.stop();
    await this.api.stop();
  }
}

/** The form fields of a new person. */
export const registration = (email?: string) => ({ first_name: 'Mia', last_name: 'Nguyen', password: PASSWORD, ...(email && { email }) });

/** A new person who accepts with a password, without the page. */
export const newcomer = (email = newAddress()) => ({ email, password: PASSWORD, firstName: 'Mia', lastName: 'Nguyen' });

/** A passkey whose registration has been verified. */
export const newPasskey = (change: Partial<NewPasskey> = {}): NewPasskey => ({
  loginId: uuidv7(),
  credentialId: randomBytes(16),
  publicKey: randomBytes(77),
  counter: 0,
  transports: ['internal'],
  name: 'Safari on iPhone',
  ...change,
});
