import { createHmac } from 'node:crypto';
import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PostgresBinaries } from './postgres-binaries.js';
import { type RoleUrls, scramOf } from './roles.js';
import { runCommand, type ServerAccount, temporaryName } from './server-process.js';

const SUPERUSER = 'postgres';

/** An embedded server's passwords, derived from one secret: whoever can read the secret can also read the data. */
export class Passwords {
  constructor(private readonly secret: string) {}

  of(role: string): string {
    return createHmac('sha256', this.secret).update(`password of ${role}`).digest('hex');
  }

  adminUrl(port: number): string {
    // Overrides PGSSLMODE: this server does not support TLS.
    return `${this.url(SUPERUSER, port, 'postgres')}?sslmode=disable`;
  }

  roleUrls(port: number): RoleUrls {
    const url = (name: string) => this.url(`tutoring_${name}`, port, 'tutoring');
    return { owner: url('owner'), api: url('app'), worker: url('worker'), portal: url('portal') };
  }

  private url(role: string, port: number, database: string): string {
    return `postgresql://${role}:${this.of(role)}@127.0.0.1:${port}/${database}`;
  }

  /** The server's pg_hba.conf: only passwords, only this machine. The mark identifies the secret, to detect data whose secret was lost. */
  get accessRules(): string {
    const mark = createHmac('sha256', this.secret).update('mark').digest('hex').slice(0, 16);
    return `# Written by the Tutoring API (${mark}). Changes are lost.\nhost all all 127.0.0.1/32 scram-sha-256\n`;
  }
}

/** A data folder, its account, and its passwords. */
export interface GuardedData {
  binaries: PostgresBinaries;
  account: ServerAccount | undefined;
  dataDirectory: string;
  passwords: Passwords;
}

/** Runs initdb on an empty folder. The server requires passwords from the start. */
export async function initialize(data: GuardedData, folder: string, more: string[]): Promise<void> {
  const { binaries, account, dataDirectory, passwords } = data;
  const file = temporaryName(`${dataDirectory}.init-`);
  try {
    await writePrivate(file, passwords.of(SUPERUSER), account);
    const args = ['-D', folder, '-E', 'UTF8', '--locale=C', '-U', SUPERUSER, '-A', 'scram-sha-256', '--pwfile', file];
    const { code, output } = await runCommand(join(binaries.binDirectory, 'initdb'), [...args, ...more], account);
    if (code !== 0) throw new Error(`initdb could not create the data folder ${dataDirectory}:\n${output}`);
    await writePrivate(join(folder, 'pg_hba.conf'), passwords.accessRules, account);
  } finally {
    await rm(file, { force: true });
  }
}

/** Replaces the superuser's password of data whose secret is lost, in single-user mode, so it is never exposed. @returns what went wrong */
export async function closeData(data: GuardedData): Promise<string | undefined> {
  if (await isClosed(data)) return undefined;
  const { binaries, account, dataDirectory } = data;
  const args = ['--single', '-D', dataDirectory, '-c', 'log_statement=none', 'postgres'];
  const { code, output } = await runCommand(join(binaries.binDirectory, 'postgres'), args, account, setPassword(data));
  if (code !== 0 || /^.*ERROR: /m.test(output)) return output;
  await writeRules(data);
  return undefined;
}

function setPassword({ passwords }: GuardedData): string {
  return `ALTER ROLE ${SUPERUSER} PASSWORD '${scramOf(passwords.of(SUPERUSER))}'\n`;
}

async function isClosed({ dataDirectory, passwords }: GuardedData): Promise<boolean> {
  const rules = await readFile(join(dataDirectory, 'pg_hba.conf'), 'utf8').catch(() => '');
  return rules === passwords.accessRules;
}

async function writeRules({ dataDirectory, account, passwords }: GuardedData): Promise<void> {
  const draft = join(dataDirectory, `pg_hba.conf.${process.pid}`);
  await writePrivate(draft, passwords.accessRules, account);
  await rename(draft, join(dataDirectory, 'pg_hba.conf'));
}

async function writePrivate(file: string, text: string, account: ServerAccount | undefined): Promise<void> {
  await writeFile(file, text, { mode: 0o600 });
  if (account) await chown(file, account.uid, account.gid);
}
