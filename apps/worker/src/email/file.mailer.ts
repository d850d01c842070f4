import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import type { Log } from '@app/logging';
import { type Mail, type Mailer, messageOf } from './mailer.js';

/** Writes mails to a folder instead of sending them, for development. Every mail program can open the files. */
export class FileMailer implements Mailer {
  private readonly folder: string;
  private readonly composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });

  /** @param url the folder's file: URL */
  constructor(
    url: string,
    private readonly log: Log,
  ) {
    this.folder = fileURLToPath(url);
  }

  async send(mail: Mail, ready: () => Promise<void>): Promise<void> {
    const { message } = await this.composer.sendMail(messageOf(mail));
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    // Renamed once complete; a second attempt overwrites the same file.
    const file = join(this.folder, `${mail.id}.eml`);
    await writeFile(`${file}.part`, message as Buffer, { mode: 0o600 });
    await ready();
    await rename(`${file}.part`, file);
    this.log.pino.info({ file }, 'mail written');
  }

  close(): void {
    this.composer.close();
  }
}
