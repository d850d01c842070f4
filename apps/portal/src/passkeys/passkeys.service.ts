import { Injectable } from '@nestjs/common';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  verifyAuthenticationResponse,
} from '@simplewebauthn/server';
import type { Request } from 'express';
import type { UsedPasskey } from '@app/people';
import { Env } from '@app/config';
import { isBlank } from '@app/database';
import { Cookies } from '../web/cookies.js';
import type { Form } from '../web/form.js';
import { nextPath } from '../web/next-path.js';
import { PageError } from '../web/page-error.js';
import { pathId } from '../web/path-id.js';
import type { Flash } from '../web/flash.js';
import { seeOther, type SeeOther } from '../web/pages.js';
import { Sessions, type SignedIn } from '../web/sessions.js';
import { credentialOf, siteOf, verified } from './ceremony.js';
import { Challenges } from './challenges.js';
import { PasskeyRegistration } from './passkey-registration.js';
import { type ListedPasskey, PasskeyStore } from './passkeys.store.js';

const LONGEST_NAME = 100;

/** The page that the script opens next. */
export interface Onward {
  location: string;
}

/** Registers passkeys and signs people in with them. The private key stays on its device; we store the public key. */
@Injectable()
export class PasskeysService {
  constructor(
    private readonly env: Env,
    private readonly store: PasskeyStore,
    private readonly registration: PasskeyRegistration,
    private readonly challenges: Challenges,
    private readonly sessions: Sessions,
    private readonly cookies: Cookies,
  ) {}

  list(request: Request): Promise<ListedPasskey[]> {
    return this.store.list(request);
  }

  async registrationOptions(session: SignedIn, request: Request): Promise<object> {
    const { id, userId: loginId, email, firstName, lastName } = session;
    const known = (await this.store.list(request)).map(({ credentialId }) => credentialId);
    const who = { loginId, email, name: `${firstName} ${lastName}` };
    return this.registration.options(who, known, `registration of ${id}`, request);
  }

  async register(session: SignedIn, request: Request): Promise<Onward> {
    const purpose = `registration of ${session.id}` as const;
    const passkey = await this.registration.verify(sentBy(request), purpose, request);
    if (!(await this.store.add(request, passkey))) throw PageError.badForm();
    const text = 'The passkey was added. You can now use it to sign in.';
    this.cookies.seal(request, 'flash', { kind: 'success', text } satisfies Flash);
    return { location: '/account' };
  }

  async rename(id: string, form: Form, request: Request): Promise<SeeOther> {
    const name = form.text('name').slice(0, LONGEST_NAME);
    if (isBlank(name)) return seeOther('/account', 'problem', 'Enter a name for the passkey.');
    if (!(await this.store.rename(request, pathId(id), name))) throw PageError.notFound();
    return seeOther('/account', 'success', 'The passkey was renamed.');
  }

  async remove(id: string, request: Request): Promise<SeeOther> {
    if (!(await this.store.remove(request, pathId(id)))) {
      const mine = await this.store.list(request);
      if (!mine.some((passkey) => passkey.id === id.toLowerCase())) throw PageError.notFound();
      const text = 'This passkey is your only way to sign in. Set a password or add another passkey first.';
      return seeOther('/account', 'problem', text);
    }
    return seeOther('/account', 'success', 'The passkey was removed. You can no longer use it to sign in.');
  }

  async signInOptions(request: Request): Promise<object> {
    const options = await generateAuthenticationOptions({
      rpID: siteOf(this.env, request).hostname,
      userVerification: 'required',
    });
    this.challenges.keep(request, { purpose: 'sign-in', challenge: options.challenge });
    return options;
  }

  async signIn(request: Request): Promise<Onward> {
    const used = await this.use(sentBy(request), request);
    await this.sessions.open(request, used.userId, used);
    return { location: nextPath((request.body as { next?: unknown }).next) };
  }

  /** The passkey that the browser has just used. Not limited: nobody guesses signatures. @throws PageError for an unknown one */
  async use(sent: unknown, request: Request): Promise<UsedPasskey> {
    const note = this.challenges.take(request, 'sign-in');
    const credential = credentialOf(sent) as AuthenticationResponseJSON;
    const passkey = await this.store.find(credential.id);
    if (!passkey) throw PageError.badForm();
    const { origin, hostname } = siteOf(this.env, request);
    const { verified: right, authenticationInfo } = await verified(() =>
      verifyAuthenticationResponse({
        response: credential,
        expectedChallenge: note.challenge,
        expectedOrigin: origin,
        expectedRPID: hostname,
        credential: passkey.credential,
      }),
    );
    if (!right) throw PageError.badForm();
    await this.challenges.use(note);
    if (!(await this.store.use(passkey.id, authenticationInfo.newCounter))) throw PageError.badForm();
    return { userId: passkey.userId, passkeyId: passkey.id, credentialId: Buffer.from(credential.id, 'base64url') };
  }
}

/** The credential of a JSON body. */
function sentBy(request: Request): unknown {
  return (request.body as { credential?: unknown } | undefined)?.credential;
}
