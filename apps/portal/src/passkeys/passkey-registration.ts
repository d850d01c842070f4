import { Injectable } from '@nestjs/common';
import {
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { Request, Response } from 'express';
import type { NewPasskey } from '@app/accounts';
import { Env } from '@app/config';
import { browserOf } from '../web/browser-name.js';
import { PageError } from '../web/page-error.js';
import { credentialOf, siteOf, verified } from './ceremony.js';
import { Challenges, type RegistrationPurpose } from './challenges.js';

/** Whom a device makes a passkey for. */
export interface Registrant {
  loginId: string;
  email: string;
  name: string;
}

/** Making a passkey: what the browser is asked for, and the check of what it answers. */
@Injectable()
export class PasskeyRegistration {
  constructor(
    private readonly env: Env,
    private readonly challenges: Challenges,
  ) {}

  /** @param known credentials of the person; a device that has one of them is not asked for another */
  async options(
    { loginId, email, name }: Registrant,
    known: string[],
    purpose: RegistrationPurpose,
    request: Request,
    response: Response,
  ): Promise<object> {
    const options = await generateRegistrationOptions({
      rpName: 'Tutoring',
      rpID: siteOf(this.env, request).hostname,
      userID: Uint8Array.from(Buffer.from(loginId)),
      userName: email,
      userDisplayName: name.trim(),
      excludeCredentials: known.map((id) => ({ id })),
      // Found by the device itself, after it has checked who uses it: neither address nor password is typed.
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    this.challenges.keep(response, { purpose, challenge: options.challenge, loginId });
    return options;
  }

  /** @throws PageError when this is no answer to the challenge that this browser was given for the purpose */
  async verify(sent: unknown, purpose: RegistrationPurpose, request: Request, response: Response): Promise<NewPasskey> {
    const answer = credentialOf(sent) as RegistrationResponseJSON;
    const { challenge, loginId } = await this.challenges.take(request, response, purpose);
    const { origin, hostname } = siteOf(this.env, request);
    const { registrationInfo } = await verified(() =>
      verifyRegistrationResponse({
        response: answer,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: hostname,
      }),
    );
    if (!registrationInfo || loginId === undefined) throw PageError.badForm();
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
