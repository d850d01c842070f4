import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { loadEnv } from '@app/config';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { EmailService } from '../../../apps/worker/src/email/email.service.js';
import { WorkerModule } from '../../../apps/worker/src/worker.module.js';
import { TestApi } from '../http/api.js';
import { logTo } from '../process/log-to.js';
import { TestSmtp } from './smtp.js';
import { WorkerProcess } from './worker-process.js';

/** An API that mails families, the worker that does it, and the server that takes the mails. */
export class FamilyPost {
  private constructor(
    readonly api: TestApi,
    readonly smtp: TestSmtp,
    private readonly worker: INestApplicationContext,
    private readonly folder: string,
    private readonly settings: Record<string, string>,
  ) {}

  static async open(settings: Record<string, string> = {}): Promise<FamilyPost> {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-post-'));
    const smtp = await TestSmtp.start();
    const all = {
      DATA_DIR: folder,
      ENCRYPTION_KEY: '5e'.repeat(32),
      SMTP_URL: smtp.url,
      MAIL_FROM: 'Tutoring <no-reply@tutoring.example>',
      ...settings,
    };
    const api = await TestApi.start(all);
    const env = loadEnv({ NODE_ENV: 'test', ...all, WORKER_DATABASE_URL: api.database.workerUrl }, {});
    const worker = await Test.createTestingModule({ imports: [WorkerModule.forRoot(env, logTo([]))] }).compile();
    return new FamilyPost(api, smtp, worker, folder, {
      ...all,
      DATABASE_URL: api.database.applicationUrl,
      WORKER_DATABASE_URL: api.database.workerUrl,
    });
  }

  /** Starts a worker in a process of its own. Requires buildOnce(). @param ahead of the database is its clock (ms) */
  hire(ahead = 0): Promise<WorkerProcess> {
    return WorkerProcess.start({ ...this.settings, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clockThatIs(ahead))}` });
  }

  /** A service of the worker. */
  service<T>(type: new (...args: never[]) => T): T {
    return this.worker.get<T>(type);
  }

  /** One drain. */
  deliver() {
    return this.worker.get(EmailService).runOnce();
  }

  /** The mails that have arrived since it was asked last. */
  received() {
    return this.smtp.received.splice(0);
  }

  async stop(): Promise<void> {
    await this.worker.close();
    await this.api.stop();
    await this.smtp.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const clockThatIs = (ahead: number) => `
  const Right = Date;
  globalThis.Date = class extends Right {
    constructor(...given) { given.length ? super(...given) : super(Right.now() + ${ahead}); }
    static now() { return Right.now() + ${ahead}; }
  };`;

/** What the PDF in a raw mail says. */
export async function attachedIn(raw: string): Promise<{ name: string; text: string }> {
  const [, name = '', content = ''] = /Content-Type: application\/pdf; name=([^\r\n]+)\r?\n[^]*?\r?\n\r?\n([A-Za-z0-9+/=\r\n]+)/.exec(raw)!;
  return { name, text: await textOf(Buffer.from(content, 'base64')) };
}

/** What a PDF says. */
export async function textOf(file: Buffer): Promise<string> {
  const document = await getDocument({ data: new Uint8Array(file), useSystemFonts: false }).promise;
  const pages = await Promise.all(
    Array.from({ length: document.numPages }, async (_, page) => {
      const { items } = await (await document.getPage(page + 1)).getTextContent();
      return items.map((item) => ('str' in item ? item.str + (item.hasEOL ? ' ' : '') : '')).join('');
    }),
  );
  return pages.join(' ').replaceAll(/\s+/g, ' ');
}
