import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Env } from './env.js';

/** Each purpose has its own key: a value encrypted for one purpose cannot be decrypted for another. */
export type Purpose =
  | 'idempotent answers'
  | 'outbox payloads'
  | 'join codes'
  | 'hook secrets'
  | 'webhook secrets'
  | 'flash messages'
  | 'join cookies'
  | 'passkey challenges'
  | 'device cookies';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encryption at rest with keys derived from ENCRYPTION_KEY: AES-256-GCM, `nonce | tag | ciphertext`. */
@Injectable()
export class Vault {
  private readonly keys = new Map<string, Buffer>();

  constructor(private readonly env: Env) {}

  seal(purpose: Purpose, text: string): Buffer {
    return encrypt(this.derive(purpose), text);
  }

  /** @throws Error if the value was encrypted with another key or for another purpose, or was changed */
  open(purpose: Purpose, sealed: Buffer): string {
    return decrypt(this.derive(purpose), sealed);
  }

  /** Derives a 32-byte key for this purpose only. */
  derive(
    purpose:
      | Purpose
      | 'list cursors'
      | 'join code hashes'
      | 'attempt limits'
      | 'API key hand-overs'
      | `links of ${'keys' | 'managers' | 'parents' | 'tutors'} to ${'files' | 'papers' | 'adjustment notes' | 'receipts' | 'statements'}`
      | 'links of owners to exports',
  ): Buffer {
    const key =
      this.keys.get(purpose) ?? Buffer.from(hkdfSync('sha256', this.env.need('ENCRYPTION_KEY'), '', purpose, 32));
    this.keys.set(purpose, key);
    return key;
  }
}

/** Encrypts with a 32-byte key that is derived for one purpose. */
export function encrypt(key: Buffer, text: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** @throws Error if the value was encrypted with another key, or was changed */
export function decrypt(key: Buffer, sealed: Buffer): string {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  return text.toString('utf8');
}
