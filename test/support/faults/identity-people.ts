import { hashOfToken } from '@app/config';
import type supertest from 'supertest';
import { type CreationOptions, type RequestOptions, SoftwarePasskey } from '../portal/software-passkey.js';
import { Visitor } from '../portal/visitor.js';
import { mailsTo } from '../worker/mailbox.js';
import type { Means, Place } from './identity-commands.js';
import type { IdentityFixture } from './identity-model.js';

/** A login that somebody has opened, and its address at that time. */
interface Held {
  by: Place;
  at: Place;
}

interface HeldSession extends Held {
  browser: Visitor;
}

interface HeldPasskey extends Held {
  passkey: SoftwarePasskey;
}

interface OpenLogin {
  userId: string;
  email: string;
  verified: boolean;
}

/** An invite's link as somebody got it; the proof is in mails only. */
export interface Link {
  token: string;
  proof: string | null;
}

/** What people do on the portal's pages, and what they keep in their browsers and devices. */
export class People {
  private readonly sessions: HeldSession[] = [];
  private readonly passkeys: HeldPasskey[] = [];

  constructor(
    private readonly stage: IdentityFixture,
    private readonly addresses: string[],
  ) {}

  password(place: Place): string {
    return `password of person ${place}`;
  }

  /** @returns whether the password opens the login with this address */
  async signIn(by: Place, at: Place): Promise<boolean> {
    const browser = new Visitor(this.stage.portal);
    const signedIn = await this.enterPassword(browser, by, at, '/');
    if (signedIn) this.sessions.push({ by, at, browser });
    return signedIn;
  }

  /** This person's newest valid session. */
  async session(by: Place): Promise<(HeldSession & OpenLogin) | null> {
    for (const session of this.sessions.toReversed()) {
      const login = session.by === by ? await this.loginOf(session) : null;
      if (login) return { ...session, ...login };
    }
    return null;
  }

  async addPasskey(by: Place): Promise<void> {
    const session = await this.session(by);
    if (!session) return;
    const { browser, at } = session;
    const passkey = new SoftwarePasskey();
    const options = await browser.json('/account/passkeys/options', {});
    const credential = passkey.create(options.body as CreationOptions, browser.origin);
    const { status } = await browser.json('/account/passkeys', { credential });
    if (status < 300) this.passkeys.push({ by, at, passkey });
  }

  /** Signs in with this person's newest passkey that still opens a login. */
  async usePasskey(by: Place): Promise<void> {
    for (const { at, passkey } of this.passkeysOf(by)) {
      const browser = new Visitor(this.stage.portal);
      const credential = await answerWith(browser, passkey);
      const { status } = await browser.json('/sign-in/passkey', { credential, next: '/' });
      if (status >= 300) continue;
      this.sessions.push({ by, at, browser });
      return;
    }
  }

  /** Resets the password through the mailed link. This implies no consent to any organization. */
  async resetPassword(at: Place): Promise<void> {
    const { api, portal, make } = this.stage;
    const browser = new Visitor(portal);
    await browser.post('/forgot-password', { email: this.addresses[at]! });
    await portal.resolveLinks();
    const mail = (await mailsTo(api, make, this.addresses[at]!)).find(({ kind }) => kind === 'password_reset');
    if (!mail) return;
    const path = `/password/${mail.token}`;
    await browser.get(path);
    const { status } = await browser.post(path, { password: this.password(at), replaces: 'yes' });
    if (status === 303) this.sessions.push({ by: at, at, browser });
  }

  /**
   * Opens an invite's link and does what its page asks for.
   *
   * @param to the address that somebody with a code enters
   * @returns the login that joined, and its address; null if none did
   */
  async join({ token, proof }: Link, by: Place, to: Place, using: Means): Promise<{ at: Place; userId: string } | null> {
    const held = using === 'session' ? await this.session(by) : null;
    const browser = held?.browser ?? new Visitor(this.stage.portal);
    const path = `/join/${token}`;
    let page = await browser.follow(await browser.get(proof ? `${path}?proof=${proof}` : path));
    let passkey: SoftwarePasskey | null = null;
    if (page.text.includes('Sign in to accept')) {
      if (!(await this.enterPassword(browser, by, to, path))) return null;
      page = await browser.get(path);
    }
    const fields: Record<string, string> = { ...this.form(by, to), ...personIn(page) };
    if (using === 'passkey') {
      passkey = new SoftwarePasskey();
      const answer = await this.passkeyFor(browser, path, fields, passkey, by);
      if (!answer) return null;
      Object.assign(fields, answer, { password: '' });
    }
    page = await browser.post(path, fields);
    if (page.text.includes('You already have an account') && (await this.enterPassword(browser, by, to, path))) {
      page = await browser.post(path, personIn(await browser.get(path)));
    }
    if (page.headers.location !== '/join/done') return null;
    const at = held?.at ?? to;
    const session = { by, at, browser };
    if (!held) this.sessions.push(session);
    if (passkey && 'credential' in fields) this.passkeys.push({ by, at, passkey });
    return { at, userId: (await this.loginOf(session))!.userId };
  }

  /** Answers an invitation on the overview. @returns whether it was accepted */
  async answer(by: Place, organizationId: string, accept: boolean): Promise<Place | null> {
    const session = await this.session(by);
    if (!session) return null;
    const { browser, at } = session;
    const path = `/organizations/${organizationId}/${accept ? 'accept' : 'decline'}`;
    let accepted = false;
    for (const as of ['member', 'parent']) {
      const fields = { as, ...personIn(await browser.get('/organizations')) };
      const { text } = await browser.follow(await browser.post(path, fields));
      accepted ||= text.includes('You accepted');
    }
    return accepted ? at : null;
  }

  /** Another site makes this person's browser send the form that accepts an invite. */
  async lure(by: Place, token: string): Promise<void> {
    const session = await this.session(by);
    if (session) await session.browser.postFromElsewhere(`/join/${token}`);
  }

  /** Describes a session or passkey that opens a login it should not, or no longer should; null if there is none. */
  async trespass(): Promise<string | null> {
    for (const session of this.sessions) {
      const fault = this.faultOf(session, await this.loginOf(session));
      if (fault) return `a session of person ${session.by} ${fault}`;
    }
    for (const held of this.passkeys) {
      const fault = this.faultOf(held, await this.ownerOf(held));
      if (fault) return `a passkey of person ${held.by} ${fault}`;
    }
    return null;
  }

  /** Everything that this person's browsers show. */
  async readAll(by: Place): Promise<string> {
    const texts: string[] = [];
    for (const session of this.sessions) {
      if (session.by !== by || !(await this.loginOf(session))) continue;
      for (const path of ['/account', '/organizations']) texts.push((await session.browser.get(path)).text);
    }
    return texts.join('\n');
  }

  private form(by: Place, to: Place) {
    const email = this.addresses[to]!;
    return { email, first_name: 'Given', last_name: `By${by}`, password: this.password(by), replaces: 'yes' };
  }

  private async enterPassword(browser: Visitor, by: Place, at: Place, next: string): Promise<boolean> {
    const fields = { email: this.addresses[at]!, password: this.password(by), next };
    return (await browser.post('/sign-in', fields)).status === 303;
  }

  /** The form's field for a new passkey, or for an existing one where the page takes no new one. */
  private async passkeyFor(
    browser: Visitor,
    path: string,
    fields: Record<string, string>,
    created: SoftwarePasskey,
    by: Place,
  ): Promise<Record<string, string> | null> {
    const options = await browser.json(`${path}/passkey/options`, fields);
    if (options.status < 300) {
      return { credential: JSON.stringify(created.create(options.body as CreationOptions, browser.origin)) };
    }
    const [newest] = this.passkeysOf(by);
    return newest ? { assertion: JSON.stringify(await answerWith(browser, newest.passkey)) } : null;
  }

  private passkeysOf(by: Place): HeldPasskey[] {
    return this.passkeys.filter((held) => held.by === by).reverse();
  }

  private faultOf({ by, at }: Held, login: OpenLogin | null): string | null {
    if (!login) return null;
    if (login.email !== this.addresses[at]) return `outlives address ${at}`;
    return login.verified && by !== at ? `opens the proven address ${at}` : null;
  }

  private async loginOf({ browser }: HeldSession): Promise<OpenLogin | null> {
    const secret = Buffer.from(browser.cookies.get('session') ?? '', 'base64url');
    const [row] = await this.stage.make.query<OpenLogin>(`SELECT user_id AS "userId", email, verified FROM portal_session($1)`, [
      hashOfToken(secret),
    ]);
    return row ?? null;
  }

  private async ownerOf({ passkey }: HeldPasskey): Promise<OpenLogin | null> {
    const [row] = await this.stage.make.query<OpenLogin>(
      `SELECT u.id AS "userId", u.email, u.email_verified_at IS NOT NULL AS verified
       FROM passkey_by_credential($1) p JOIN users u ON u.id = p.user_id`,
      [passkey.id],
    );
    return row ?? null;
  }
}

/** The hidden field that says whom a page was shown to, if it has one. */
function personIn({ text }: supertest.Response): Record<string, string> {
  const [, person] = /name="person" value="([^"]*)"/.exec(text) ?? [];
  return person === undefined ? {} : { person };
}

async function answerWith(browser: Visitor, passkey: SoftwarePasskey): Promise<object> {
  const options = await browser.json('/sign-in/passkey/options', {});
  return passkey.use(options.body as RequestOptions, browser.origin);
}
