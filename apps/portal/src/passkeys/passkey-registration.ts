import { Injectable } from '@nestjs/common';
import {
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { Request } from 'express';
import type { NewPasskey } from '@app/people';
import { Env } from '@app/config';
import { browserOf } from '../web/browser-name.js';
import { PageError } from '../web/page-error.js';
import { credentialOf, siteOf, verified } from './ceremony.js';
import { Challenges, type RegistrationPurpose } from './challenges.js';

/** The person for whom a device creates a passkey. */
export interface Registrant {
  loginId: string;
  email: string;
  name: string;
}

/** Creating a passkey: the browser's options, and the check of its response. */
@Injectable()
export class PasskeyRegistration {
  constructor(
    private readonly env: Env,
    private readonly challenges: Challenges,
  ) {}

  /** @param known the person's credentials; a device that has one of them does not create another */
  async options(
    { loginId, email, name }: Registrant,
    known: string[],
    purpose: RegistrationPurpose,
    request: Request,
  ): Promise<object> {
    const options = await generateRegistrationOptions({
      rpName: 'Tutoring',
      rpID: siteOf(this.env, request).hostname,
      userID: Uint8Array.from(Buffer.from(loginId)),
      userName: email,
      userDisplayName: name.trim(),
      excludeCredentials: known.map((id) => ({ id })),
      // The device finds the passkey and verifies its user, so people type neither an address nor a password.
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    this.challenges.keep(request, { purpose, challenge: options.challenge, loginId });
    return options;
  }

  /** @throws PageError unless this answers the challenge that this browser was given for the purpose */
  async verify(sent: unknown, purpose: RegistrationPurpose, request: Request): Promise<NewPasskey> {
    const answer = credentialOf(sent) as RegistrationResponseJSON;
    const note = this.challenges.take(request, purpose);
    const { origin, hostname } = siteOf(this.env, request);
    const { registrationInfo } = await verified(() =>
      verifyRegistrationResponse({
        response: answer,
        expectedChallenge: note.challenge,
        expectedOrigin: origin,
        expectedRPID: hostname,
      }),
    );
    const { loginId } = note;
    if (!registrationInfo || loginId === undefined) throw PageError.badForm();
    await this.challenges.use(note);
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return {
      loginId,
      credentialId: Buffer.from(id, 'base64url'),
      publicKey: Buffer.from(publicKey),
      counter,
      transports,
      name: browserOf(request.get('User-Agent') ?? ''),
    };
  }
}
