import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Process, Processor } from '@nestjs/bull';
import type { OnApplicationShutdown } from '@nestjs/common';
import sql from 'sql-template-tag';
import { NIL } from 'uuid';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { exportOrganization, Exports, MANIFEST, pathOf, zipFolder } from '@app/exports';
import { Log } from '@app/logging';
import { PrivateStorage } from '@app/storage';

/** An export whose worker has said nothing for so long is prepared anew. */
const LEASE = '5 minutes';
const RENEW_EVERY_MS = 60_000;

interface Claimed {
  id: string;
  organizationId: string;
  tries: number;
}

/** Prepares the exports that owners have confirmed, one at a time, and deletes the files of those that have ended. */
@Processor('exports')
export class ExportsService implements OnApplicationShutdown {
  private readonly stopping = new AbortController();

  constructor(
    private readonly db: Database,
    private readonly exports: Exports,
    private readonly storage: PrivateStorage,
    private readonly log: Log,
    private readonly env: Env,
  ) {}

  /** What it was preparing is prepared by the next worker, once the lease is over. */
  onApplicationShutdown(): void {
    this.stopping.abort();
  }

  @Process('prepare')
  async runOnce(): Promise<{ prepared: number }> {
    await this.deleteFiles();
    for (let prepared = 0; ;) {
      const [claimed] = await this.db.lookUp<Claimed>(
        sql`SELECT id, organization_id AS "organizationId", tries FROM claim_export(${LEASE}::interval)`,
      );
      if (!claimed) return { prepared };
      try {
        await this.prepare(claimed);
        prepared++;
      } catch (error) {
        if (this.stopping.signal.aborted) return { prepared };
        // Called off meanwhile: then nothing more may be read.
        if (await this.renew(claimed)) throw error;
      }
    }
  }

  private async prepare(claimed: Claimed): Promise<void> {
    const { id, organizationId, tries } = claimed;
    const base = await mkdtemp(join(tmpdir(), 'tutoring-export-'));
    const calledOff = new AbortController();
    const renewal = setInterval(() => {
      void this.renew(claimed).then((wanted) => wanted || calledOff.abort());
    }, RENEW_EVERY_MS);
    const signal = AbortSignal.any([this.stopping.signal, calledOff.signal]);
    try {
      const [folder, archive] = [join(base, 'data'), join(base, 'export.zip')];
      const manifest = await exportOrganization({
        ...{ env: this.env, url: this.env.urlOf('worker'), as: 'worker', organizationId, folder },
        onProgress: () => signal.throwIfAborted(),
      });
      const paths = [...manifest.tables, ...manifest.files].map(({ path }) => path);
      const path = pathOf(organizationId, id, tries);
      const size = await zipFolder(folder, [...paths, MANIFEST], archive, signal);
      const open = () => createReadStream(archive);
      await this.storage.put(path, { contentType: 'application/zip', size, open, chunks: open });
      const kept = await this.db.transaction({ organizationId }, () =>
        this.exports.finish(organizationId, id, tries, size),
      );
      if (!kept) await this.storage.remove(path);
    } finally {
      clearInterval(renewal);
      await rm(base, { recursive: true, force: true });
    }
  }

  /** @returns false if the export is not being prepared any more, or by another worker */
  private async renew({ id, organizationId, tries }: Claimed): Promise<boolean> {
    const renewing = this.db.transaction({ organizationId }, () =>
      this.db.count(sql`UPDATE exports SET leased_until = now() + ${LEASE}::interval
        WHERE organization_id = ${organizationId} AND id = ${id} AND status = 'preparing' AND tries = ${tries}`),
    );
    const renewed = await renewing.catch((error: unknown) => {
      this.log.failure(error, null, 'export_not_renewed');
      return 1;
    });
    return renewed > 0;
  }

  /** First the bytes: a file that cannot be deleted is tried again. */
  private async deleteFiles(): Promise<void> {
    await this.db.transaction({ organizationId: NIL }, async () => {
      for (const { path } of await this.db.query<{ path: string }>(sql`SELECT path FROM end_exports() path`))
        await this.storage.remove(path);
    });
  }
}
