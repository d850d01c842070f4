import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FORMATS, photo } from '../data/images.js';
import { forgetPeak, memoryOf } from '../process/processes.js';
import { ApiProcess, buildOnce } from './api-process.js';
import { Uploads } from './uploads.js';

/** An API process that receives uploads, with its own temporary folder. */
export class UploadProcess {
  private constructor(
    readonly uploads: Uploads,
    readonly api: ApiProcess,
    private readonly temporary: string,
  ) {}

  static async start(settings: Record<string, string> = {}): Promise<UploadProcess> {
    await buildOnce();
    const uploads = await Uploads.open();
    const temporary = mkdtempSync(join(tmpdir(), 'tutoring-tmp-'));
    const api = await ApiProcess.start({
      DATABASE_URL: uploads.api.database.applicationUrl,
      DATA_DIR: uploads.dataDir,
      TMPDIR: temporary,
      LOG_LEVEL: 'error',
      ...settings,
    });
    uploads.port = api.port;
    // Warms up the process: loading modules is not part of an upload's cost.
    for (const { format } of FORMATS) {
      const { status } = await uploads.send(await photo(format, 6));
      if (status !== 201) throw new Error(`The first ${format} got ${status}`);
    }
    return new UploadProcess(uploads, api, temporary);
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.uploads.stop();
    rmSync(this.temporary, { recursive: true, force: true });
  }

  /** The process's peak memory since the last call (MB). */
  peak(): number {
    const mb = memoryOf(this.api.pid, 'VmHWM');
    forgetPeak(this.api.pid);
    return mb;
  }

  descriptors(): number {
    return readdirSync(`/proc/${this.api.pid}/fd`).length;
  }

  temporaryFiles(): string[] {
    return readdirSync(this.temporary);
  }
}
