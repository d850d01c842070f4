import { Injectable } from '@nestjs/common';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { Request, Response } from 'express';
import { Env } from '@app/config';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import { browserOf } from '../web/browser-name.js';
import { Flashes } from '../web/flash.js';
import type { Form } from '../web/form.js';
import { networkOf } from '../web/network.js';
import { nextPath } from '../web/next-path.js';
import { PageError } from '../web/page-error.js';
import { pathId } from '../web/path-id.js';
import { seeOther, type SeeOther } from '../web/pages.js';
import { Sessions, type SignedIn } from '../web/sessions.js';
import { Challenges } from './challenges.js';
import { type ListedPasskey, PasskeyStore } from './passkeys.store.js';

const FROM_NETWORK: AttemptLimit = { purpose: 'passkey sign-in from', most: 120, minutes: 15 };
const LONGEST_NAME = 100;

/** Where the script goes next. */
export interface Onward {
  location: string;
}

/** Registering passkeys, and signing in with them. The key stays with its device; we keep what checks its signatures. */
@Injectable()
export class PasskeysService {
  constructor(
    private readonly env: Env,
    private readonly store: PasskeyStore,
    private readonly challenges: Challenges,
    private readonly sessions: Sessions,
    private readonly limits: AttemptLimits,
    private readonly flashes: Flashes,
  ) {}

  list(request: Request): Promise<ListedPasskey[]> {
    return this.store.list(request);
  }

  async registrationOptions(session: SignedIn, request: Request, response: Response): Promise<object> {
    const known = await this.store.list(request);
    const options = await generateRegistrationOptions({
      rpName: 'Tutoring',
      rpID: this.site(request).hostname,
      userID: Uint8Array.from(Buffer.from(session.userId)),
      userName: session.email,
      userDisplayName: `${session.firstName} ${session.lastName}`.trim(),
      excludeCredentials: known.map(({ credentialId: id }) => ({ id })),
      // Found by the device itself, after it has checked who uses it: neither address nor password is typed.
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    this.challenges.keep(response, `registration of ${session.id}`, options.challenge);
    return options;
  }

  async register(session: SignedIn, request: Request, response: Response): Promise<Onward> {
    const challenge = await this.challenges.take(request, response, `registration of ${session.id}`);
    const { origin, hostname } = this.site(request);
    const { registrationInfo } = await verified(() =>
      verifyRegistrationResponse({
        response: credentialOf(request) as RegistrationResponseJSON,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: hostname,
      }),
    );
    const name = browserOf(request.get('User-Agent') ?? '');
    if (!registrationInfo || !(await this.store.add(request, registrationInfo.credential, name))) {
      throw PageError.badForm();
    }
    this.flashes.set(response, {
      kind: 'success',
      text: 'The passkey was added. You can sign in with it from now on.',
    });
    return { location: '/account' };
  }

  async rename(id: string, form: Form, request: Request): Promise<SeeOther> {
    const name = form.text('name').slice(0, LONGEST_NAME);
    if (name === '') return seeOther('/account', { kind: 'problem', text: 'A passkey needs a name.' });
    if (!(await this.store.rename(request, pathId(id), name))) throw PageError.notFound();
    return seeOther('/account', { kind: 'success', text: 'The passkey was renamed.' });
  }

  async remove(id: string, request: Request): Promise<SeeOther> {
    if (!(await this.store.remove(request, pathId(id)))) throw PageError.notFound();
    return seeOther('/account', { kind: 'success', text: 'The passkey was removed. It no longer signs you in.' });
  }

  async signInOptions(request: Request, response: Response): Promise<object> {
    const options = await generateAuthenticationOptions({
      rpID: this.site(request).hostname,
      userVerification: 'required',
    });
    this.challenges.keep(response, 'sign-in', options.challenge);
    return options;
  }

  async signIn(request: Request, response: Response): Promise<Onward> {
    await this.limits.take(FROM_NETWORK, networkOf(request.ip));
    const challenge = await this.challenges.take(request, response, 'sign-in');
    const credential = credentialOf(request) as AuthenticationResponseJSON;
    const passkey = await this.store.find(credential.id);
    if (!passkey) throw PageError.badForm();
    const { origin, hostname } = this.site(request);
    const { verified: right, authenticationInfo } = await verified(() =>
      verifyAuthenticationResponse({
        response: credential,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: hostname,
        credential: passkey.credential,
      }),
    );
    if (!right || !(await this.store.use(passkey.id, authenticationInfo.newCounter))) throw PageError.badForm();
    await this.sessions.open(request, response, passkey.userId);
    return { location: nextPath((request.body as { next?: unknown }).next) };
  }

  /** What a passkey is bound to: the configured address, or on a machine of one's own the one that was typed. */
  private site(request: Request): URL {
    return new URL(this.env.get('APP_URL') ?? `${request.protocol}://${request.get('Host') ?? 'localhost'}`);
  }
}

/** What the library throws says what is wrong with the answer of the browser: it is not ours to log. */
async function verified<T>(verify: () => Promise<T>): Promise<T> {
  return verify().catch(() => {
    throw PageError.badForm();
  });
}

/** The credential of a JSON body, as far as we read it ourselves; the library checks the rest. */
function credentialOf(request: Request): unknown {
  const { credential } = (request.body ?? {}) as { credential?: { id?: unknown } };
  if (typeof credential?.id !== 'string') throw PageError.badForm();
  return credential;
}
