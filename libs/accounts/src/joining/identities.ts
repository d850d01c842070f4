import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';

/** A login, as far as joining and signing in need it. Never shown to an organization. */
export interface Identity {
  id: string;
  email: string;
  /** Normalized. */
  address: string;
  firstName: string;
  lastName: string;
  /** Whether the person has proven the address. */
  verified: boolean;
  passwordHash: string | null;
  /** Whether a password or a passkey opens it. */
  used: boolean;
  /** Whether organizations other than that of the transaction have a tie to it, of whatever status. */
  elsewhere: boolean;
}

/** A passkey whose registration has been verified. */
export interface NewPasskey {
  /** The login that the device keeps it for; one that is made with the passkey gets this id. */
  loginId: string;
  credentialId: Buffer;
  publicKey: Buffer;
  counter: number;
  transports: string[];
  name: string;
}

/** A passkey that was used just now: more than being signed in, it says that the person is the same. */
export interface UsedPasskey {
  userId: string;
  passkeyId: string;
  credentialId: Buffer;
}

/** What opens a login from now on. */
export type Credential = { hash: string } | { passkey: NewPasskey };

/** What somebody has shown to be let in: a session begins only while it still opens the login. */
export type Shown = { passwordHash: string } | { credentialId: Buffer };

interface Row {
  id: string;
  email: string;
  email_normalized: string;
  first_name: string;
  last_name: string;
  verified: boolean;
  password_hash: string | null;
  used: boolean;
  elsewhere: boolean;
}

/** The doors to logins that go past row-level security. Each keeps its rule in the database. */
@Injectable()
export class Identities {
  constructor(private readonly db: Database) {}

  /** The login with this (normalized) address; it stays so until the ambient transaction ends. */
  async holdByAddress(address: string): Promise<Identity | null> {
    return toIdentity(await this.db.query<Row>(sql`SELECT * FROM identity_of(${address}, NULL, true)`));
  }

  /** The login with this id, held likewise. */
  async hold(id: string): Promise<Identity | null> {
    return toIdentity(await this.db.query<Row>(sql`SELECT * FROM identity_of(NULL, ${id}, true)`));
  }

  /** The login with this (normalized) address, as the ambient transaction sees it. */
  async readByAddress(address: string): Promise<Identity | null> {
    return toIdentity(await this.db.query<Row>(sql`SELECT * FROM identity_of(${address}, NULL, false)`));
  }

  /** The login with this (normalized) address, outside of any transaction. */
  async find(address: string): Promise<Identity | null> {
    return toIdentity(await this.db.lookUp<Row>(sql`SELECT * FROM identity_of(${address}, NULL, false)`));
  }

  /** Gives a login its first credential. False when it was used or proven before, or others are tied to it. */
  setFirst(id: string, credential: Credential): Promise<boolean> {
    return this.ask(
      'hash' in credential
        ? sql`SELECT set_first_password(${id}, ${credential.hash}) AS done`
        : sql`SELECT set_first_passkey(${id}, ${valuesOf(credential.passkey)}) AS done`,
    );
  }

  /**
   * The address is proven, inside the ambient transaction.
   *
   * @param credential replaces all others; null for somebody who has shown the current password
   * @returns false when somebody else has this passkey
   */
  prove({ id, address }: Identity, credential: Credential | null): Promise<boolean> {
    if (credential && 'passkey' in credential) {
      return this.ask(sql`SELECT take_login_with_passkey(${id}, ${address}, ${valuesOf(credential.passkey)}) AS done`);
    }
    return this.ask(sql`SELECT take_login(${id}, ${address}, ${credential?.hash ?? null}, ${!credential}) AS done`);
  }

  /** Whether a passkey opens this login. */
  hasPasskeys(id: string): Promise<boolean> {
    return this.ask(sql`SELECT has_passkeys(${id}) AS done`);
  }

  /**
   * The person does not want to belong to the organization of the ambient transaction, which waits for an answer.
   *
   * @returns false when nothing waits
   */
  decline(id: string, as: 'member' | 'parent'): Promise<boolean> {
    return this.ask(sql`SELECT decline_ties(${id}, ${as === 'parent'}) AS done`);
  }

  /** The operator's word that whoever uses the login with this (normalized) address owns it. False when there is none. */
  async vouchFor(address: string): Promise<boolean> {
    const login = await this.find(address);
    if (!login) return false;
    const [row] = await this.db.lookUp<{ done: boolean }>(
      sql`SELECT take_login(${login.id}, ${address}, NULL, true) AS done`,
    );
    return row!.done;
  }

  /**
   * The person accepts the organization of the ambient transaction, where a tie waits for that.
   *
   * @param trusted without a proof of the address, although others are tied to the login
   * @returns false when only a login with a proven address may accept
   */
  accept(id: string, as: 'member' | 'parent', trusted: boolean): Promise<boolean> {
    return this.ask(sql`SELECT accept_ties(${id}, ${as === 'parent'}, ${trusted}) AS done`);
  }

  private async ask(statement: Sql): Promise<boolean> {
    const [row] = await this.db.query<{ done: boolean }>(statement);
    return row!.done;
  }
}

function valuesOf({ credentialId, publicKey, counter, transports, name }: NewPasskey): Sql {
  return sql`${uuidv7()}, ${credentialId}, ${publicKey}, ${counter}, ${transports}::text[], ${name}`;
}

function toIdentity([row]: Row[]): Identity | null {
  return (
    (row && {
      id: row.id,
      email: row.email,
      address: row.email_normalized,
      firstName: row.first_name,
      lastName: row.last_name,
      verified: row.verified,
      passwordHash: row.password_hash,
      used: row.used,
      elsewhere: row.elsewhere,
    }) ??
    null
  );
}
