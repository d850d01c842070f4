import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Purpose, Vault } from '@app/config';
import { type Problem, problemOf } from '@app/jobs';
import { Addresses } from '@app/webhooks';
import type { Hook } from '../outbox/outbox.store.js';
import { AddressNotPublic, post, type Response } from './hook-request.js';

/** A call of a build hook or a webhook. */
export interface Call {
  hook: Pick<Hook, 'url' | 'slug'> & { trusted?: boolean };
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

/** Calls of hooks: how they are signed, where they may go, and what went wrong. */
@Injectable()
export class Calls {
  constructor(
    private readonly vault: Vault,
    private readonly addresses: Addresses,
  ) {}

  /** A signature with each secret that is valid, the newest first. @throws Error when a secret cannot be decrypted */
  signatures(
    { secret, previousSecret }: Pick<Hook, 'secret' | 'previousSecret'>,
    purpose: Purpose,
    sign: (secret: string) => string,
  ): [string, ...string[]] {
    const signed = (sealed: Buffer) => sign(this.vault.open(purpose, sealed));
    return [signed(secret), ...(previousSecret ? [signed(previousSecret)] : [])];
  }

  /** @returns the response, or why there is none */
  async post({ hook, headers, body, signal }: Call): Promise<Response | Problem> {
    const url = new URL(hook.url);
    const admits = (address: string) => hook.trusted === true || this.addresses.admits(address, url, hook.slug);
    const about = { 'Content-Type': 'application/json', 'User-Agent': 'tutoring-worker' };
    try {
      return await post(hook.url, { headers: { ...about, ...headers }, body, admits, signal });
    } catch (error) {
      if (error instanceof AddressNotPublic) return 'address_not_public';
      return signal.aborted ? 'timeout' : problemOf(error);
    }
  }
}

export const hmacOf = (secret: string | Buffer, content: string) => createHmac('sha256', secret).update(content);

export const succeeded = ({ status }: Response): boolean => status >= 200 && status < 300;
