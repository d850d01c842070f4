import { Injectable } from '@nestjs/common';
import { isCode } from '@app/accounts';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';

/** Per network. A class in one room shares a network and makes typing errors. */
const FROM_NETWORK: AttemptLimit = { purpose: 'join code from', most: 20, minutes: 10 };
/** From all networks: at this rate, finding one of a million valid codes among 8 * 10^14 takes about 30 years. */
const IN_ALL: AttemptLimit = { purpose: 'join codes', most: 3_000, minutes: 60 };
const EVERYWHERE = 'everywhere';

/**
 * Codes are short enough to be typed, so guesses are limited: beyond the limit, the right code is refused like a wrong
 * one. A token has 256 bits and needs no limit.
 */
@Injectable()
export class Guesses {
  constructor(private readonly limits: AttemptLimits) {}

  /**
   * Looks up a secret. Only failed attempts are counted.
   *
   * @throws PageError 429 when too many codes were tried
   */
  async limit<T>(secret: string, network: string, look: () => Promise<T | null>): Promise<T | null> {
    if (!isCode(secret)) return look();
    // A refused network must not use up the limit for all.
    await this.limits.take(FROM_NETWORK, network);
    await this.limits.take(IN_ALL, EVERYWHERE);
    const found = await look();
    if (found !== null) {
      await Promise.all([this.limits.giveBack(FROM_NETWORK, network), this.limits.giveBack(IN_ALL, EVERYWHERE)]);
    }
    return found;
  }
}
