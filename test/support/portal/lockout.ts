import { randomUUID } from 'node:crypto';
import { hashPassword, newCode } from '@app/people';
import { newAddress, type PeopleFixture } from '../data/provisioning.js';
import { mailsTo } from '../worker/mailbox.js';
import { type JoinFixture, registration, STUDENT } from './join-fixture.js';
import { PASSWORD } from './portal.js';
import { type CreationOptions, type RequestOptions, SoftwarePasskey } from './software-passkey.js';
import { Visitor } from './visitor.js';

/** What strangers can do to use up attempts. */
export const ATTACKS = ['wrong passwords', 'wrong passwords with a code', 'links', 'wrong passkeys', 'wrong codes'] as const;
export type Attack = (typeof ATTACKS)[number];

/** What the person, and whoever got a code, must still be able to do. */
export const WAYS = [
  'password in a known browser', 'password in a new browser', 'passkey in a new browser', 'link by mail in a known browser',
  'link by mail in a new browser', 'right code', 'joining with a code', 'change of the name', 'confirmation of the address',
  'confirmation of the person', 'change of the password',
] as const; // prettier-ignore
export type Way = (typeof WAYS)[number];

/** Forms of the account page. */
const FORMS: Record<string, [path: string, fields: Record<string, string>]> = {
  'change of the name': ['/account/name', { first_name: 'Mia', last_name: 'Nguyen' }],
  'confirmation of the address': ['/account/confirmation', { next: '/account' }],
  'confirmation of the person': ['/confirm', { next: '/account', password: PASSWORD }],
  'change of the password': ['/account/password', { current_password: PASSWORD, password: `${PASSWORD}!` }],
};

/** An owner whom strangers try to lock out, with a password, a passkey and a browser that has signed in before. */
export class LockoutTarget {
  private constructor(
    private readonly joining: JoinFixture,
    readonly provisioning: PeopleFixture,
    readonly email: string,
    /** A browser that has signed in before. It is signed out. */
    readonly known: Visitor,
    private readonly passkey: SoftwarePasskey,
    /** An organization's code for students. */
    readonly code: string,
  ) {}

  /** @param costly whether the password takes as long to compare as a real one */
  static async make(joining: JoinFixture, costly = false): Promise<LockoutTarget> {
    const provisioning = await joining.provisioning();
    const organization = await joining.portal.make.find('organizations', provisioning.id);
    const { user } = await joining.portal.someone('owner', { organization, user: { email: newAddress() } });
    await joining.portal.setPassword(user.id);
    if (costly) {
      await joining.portal.make.withoutTriggers(
        `UPDATE credentials SET password_hash = '${await hashPassword(PASSWORD)}' WHERE user_id = '${user.id}'`,
      );
    }
    const code = await joining.invite(provisioning, STUDENT);
    const target = new LockoutTarget(joining, provisioning, user.email, joining.visitor(), new SoftwarePasskey(), code);
    const { known, passkey } = target;
    await target.signIn(known);
    const options = (await known.json('/account/passkeys/options', {})).body as CreationOptions;
    const credential = passkey.create(options, known.origin);
    if ((await known.json('/account/passkeys', { credential })).status >= 300) throw new Error('No passkey was added');
    await known.post('/sign-out');
    return target;
  }

  /** One attempt of a stranger. @returns the status */
  async attack(attack: Attack, stranger: Visitor): Promise<number> {
    const { email, code } = this;
    switch (attack) {
      case 'wrong passwords':
        return (await stranger.post('/sign-in', { email, password: randomUUID() })).status;
      case 'wrong passwords with a code':
        return (await stranger.post(`/join/${code}`, { ...registration(email), password: randomUUID() })).status;
      case 'links':
        return (await stranger.post('/forgot-password', { email })).status;
      case 'wrong passkeys':
        return (await this.usePasskey(stranger, new SoftwarePasskey())).status;
      case 'wrong codes':
        return (await stranger.get(`/join/${newCode()}`)).status;
    }
  }

  /** @param network of the new browsers; by default, each has its own. @returns whether it worked */
  async try(way: Way, network?: string): Promise<boolean> {
    const { joining, known, email, code } = this;
    const fresh = new Visitor(joining.portal, undefined, network);
    switch (way) {
      case 'password in a known browser':
        return this.signIn(known);
      case 'password in a new browser':
        return this.signIn(fresh);
      case 'passkey in a new browser':
        return (await this.usePasskey(fresh, this.passkey)).status < 300;
      case 'link by mail in a known browser': {
        const before = (await this.links()).length;
        await known.post('/forgot-password', { email });
        return (await this.links()).length > before && this.opensNewestLink(known);
      }
      case 'link by mail in a new browser': {
        const { status } = await fresh.post('/forgot-password', { email });
        return status === 200 && this.opensNewestLink(fresh);
      }
      case 'right code':
        return (await fresh.get(`/join/${code}`)).status === 200;
      case 'joining with a code':
        return (await fresh.post(`/join/${code}`, registration(newAddress()))).headers.location === '/join/done';
      case 'change of the name':
      case 'confirmation of the address':
      case 'confirmation of the person':
      case 'change of the password': {
        if (!(await this.signIn(known))) return false;
        const [path, fields] = FORMS[way]!;
        const answer = await known.post(path, fields);
        return answer.status === 303 && answer.headers.location === '/account';
      }
    }
  }

  /** The mailed links to set a password, newest first, as paths. */
  async links(): Promise<string[]> {
    await this.joining.portal.resolveLinks();
    const mails = await mailsTo(this.joining.api, this.joining.portal.make, this.email);
    return mails.filter(({ kind }) => kind === 'password_reset').map(({ token }) => `/password/${token}`);
  }

  private async opensNewestLink(visitor: Visitor): Promise<boolean> {
    const [newest] = await this.links();
    return newest !== undefined && (await visitor.get(newest)).status === 200;
  }

  private async signIn(visitor: Visitor): Promise<boolean> {
    const { status, headers } = await visitor.post('/sign-in', { email: this.email, password: PASSWORD });
    return status === 303 && headers.location === '/';
  }

  private async usePasskey(visitor: Visitor, passkey: SoftwarePasskey) {
    const options = (await visitor.json('/sign-in/passkey/options', {})).body as RequestOptions;
    return visitor.json('/sign-in/passkey', { credential: passkey.use(options, visitor.origin), next: '/' });
  }
}
