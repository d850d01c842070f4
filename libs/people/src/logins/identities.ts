import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';

/** What joining and signing in need to know of a login. Never shown to an organization. */
export interface Identity {
  id: string;
  email: string;
  /** Normalized. */
  address: string;
  firstName: string;
  lastName: string;
  /** Whether the person has proven the address. */
  verified: boolean;
  /** Parameters and salt of its password, which differ for each password that is set; null without one. */
  passwordSalt: string | null;
  /** Whether it has a password or a passkey. */
  used: boolean;
  /** Whether it has memberships, of any status, in organizations other than the transaction's. */
  elsewhere: boolean;
}

/** A passkey whose registration has been verified. */
export interface NewPasskey {
  /** The login that the device stores it for. A login created with the passkey gets this id. */
  loginId: string;
  credentialId: Buffer;
  publicKey: Buffer;
  counter: number;
  transports: string[];
  name: string;
}

/** A passkey that was just used. Unlike a session, it proves that this is the same person. */
export interface UsedPasskey {
  userId: string;
  passkeyId: string;
  credentialId: Buffer;
}

/** An invite, with the second secret that only its mail contains. */
export interface Proof {
  id: string;
  proof: string | null;
}

/** What opens a login. */
export interface Credentials {
  password: boolean;
  passkeys: boolean;
}

/** The new credential of a login. */
export type Credential = { hash: string } | { passkey: NewPasskey };

/** The credential that somebody signed in with, a password as {@link hashAs} hashes it. A session starts only while it is still valid. */
export type UsedCredential = { passwordHash: string } | { credentialId: Buffer };

const COLUMNS =
  raw(`id, email, email_normalized AS address, first_name AS "firstName", last_name AS "lastName", verified,
  password_salt AS "passwordSalt", used, elsewhere`);

/** Access to logins that bypasses row-level security. The database enforces the rule of each function. */
@Injectable()
export class Identities {
  constructor(private readonly db: Database) {}

  /** The login with this (normalized) address, locked until the ambient transaction ends. */
  lockByAddress(address: string): Promise<Identity | null> {
    return this.one(sql`SELECT ${COLUMNS} FROM identity_of(${address}, NULL, true)`);
  }

  /** The login with this id, locked likewise. */
  lock(id: string): Promise<Identity | null> {
    return this.one(sql`SELECT ${COLUMNS} FROM identity_of(NULL, ${id}, true)`);
  }

  /** The login with this (normalized) address, as the ambient transaction sees it. */
  readByAddress(address: string): Promise<Identity | null> {
    return this.one(sql`SELECT ${COLUMNS} FROM identity_of(${address}, NULL, false)`);
  }

  /** The login with this (normalized) address, outside of any transaction. */
  async find(address: string): Promise<Identity | null> {
    const statement = sql`SELECT ${COLUMNS} FROM identity_of(${address}, NULL, false)`;
    return (await this.db.lookUp<Identity>(statement))[0] ?? null;
  }

  /** Whether a password with this hash opens the login, as the ambient transaction sees it. */
  isPassword(id: string, hash: string): Promise<boolean> {
    return this.ask(isPassword(id, hash));
  }

  /** The same, outside of any transaction. */
  async opens(id: string | null, hash: string): Promise<boolean> {
    const [row] = await this.db.lookUp<{ done: boolean }>(isPassword(id, hash));
    return row!.done;
  }

  /** Sets a login's first credential. False if it is in use or proven, or has memberships elsewhere. */
  setFirst(id: string, credential: Credential): Promise<boolean> {
    return this.ask(
      'hash' in credential
        ? sql`SELECT set_first_password(${id}, ${credential.hash}) AS done`
        : sql`SELECT set_first_passkey(${id}, ${valuesOf(credential.passkey)}) AS done`,
    );
  }

  /**
   * Marks the address as proven.
   *
   * @param by the invite and the second secret of its mail, which the database checks
   * @param credential replaces all others; null for the current password
   * @returns false for another's passkey, and without the secret
   */
  prove({ id, address }: Identity, by: Proof, credential: Credential | null): Promise<boolean> {
    const proven = sql`${by.id}, ${by.proof}, ${id}, ${address}`;
    if (credential && 'passkey' in credential) {
      return this.ask(sql`SELECT prove_login_with_passkey(${proven}, ${valuesOf(credential.passkey)}) AS done`);
    }
    return this.ask(sql`SELECT prove_login(${proven}, ${credential?.hash ?? null}, ${!credential}) AS done`);
  }

  async credentialsOf({ id, passwordSalt }: Identity): Promise<Credentials> {
    return { password: passwordSalt !== null, passkeys: await this.ask(sql`SELECT has_passkeys(${id}) AS done`) };
  }

  /** Declines a pending membership of the ambient transaction's organization. @returns false when nothing is pending */
  decline(id: string, as: 'member' | 'parent'): Promise<boolean> {
    return this.ask(sql`SELECT decline_ties(${id}, ${as === 'parent'}) AS done`);
  }

  /** The operator, as the database's owner, confirms that the login's user owns its (normalized) address. False if there is no such login. */
  async vouchFor(address: string): Promise<boolean> {
    const login = await this.find(address);
    if (!login) return false;
    const [row] = await this.db.lookUp<{ done: boolean }>(
      sql`SELECT take_login(${login.id}, ${address}, NULL, true) AS done`,
    );
    return row!.done;
  }

  /** Accepts a pending membership. @param trusted without a proven address @returns false when only a proven address may accept */
  accept(id: string, as: 'member' | 'parent', trusted: boolean): Promise<boolean> {
    return this.ask(sql`SELECT accept_ties(${id}, ${as === 'parent'}, ${trusted}) AS done`);
  }

  private async one(statement: Sql): Promise<Identity | null> {
    return (await this.db.query<Identity>(statement))[0] ?? null;
  }

  private async ask(statement: Sql): Promise<boolean> {
    const [row] = await this.db.query<{ done: boolean }>(statement);
    return row!.done;
  }
}

function valuesOf({ credentialId, publicKey, counter, transports, name }: NewPasskey): Sql {
  return sql`${uuidv7()}, ${credentialId}, ${publicKey}, ${counter}, ${transports}::text[], ${name}`;
}

const isPassword = (id: string | null, hash: string): Sql => sql`SELECT is_password(${id}, ${hash}) AS done`;
