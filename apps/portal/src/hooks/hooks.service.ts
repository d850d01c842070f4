import { Injectable } from '@nestjs/common';
import { type Actor, AuditLog, type Operation } from '@app/audit';
import { Database } from '@app/database';
import { inWords } from '@app/jobs';
import { type BuildHook, BuildHooks, siteOf } from '@app/publishing';
import { asManager } from '@app/people';
import { PageError } from '../web/page-error.js';

const DELIVERIES = 20;

/** The build hook of an organization's site. Each change is audited in its own transaction. */
@Injectable()
export class HooksService {
  constructor(
    private readonly db: Database,
    private readonly hooks: BuildHooks,
    private readonly audit: AuditLog,
  ) {}

  find(organizationId: string): Promise<BuildHook | null> {
    return this.hooks.find(siteOf(organizationId));
  }

  /** @throws PageError 404 without a hook */
  async need(organizationId: string): Promise<BuildHook> {
    const hook = await this.find(organizationId);
    if (!hook) throw PageError.notFound();
    return hook;
  }

  async deliveries(organizationId: string) {
    const rows = await this.hooks.deliveries(siteOf(organizationId), DELIVERIES);
    return rows.map((row) => ({ ...row, reason: row.problem && inWords(row.problem) }));
  }

  /** @returns the secret; null if there is already a hook */
  add(organizationId: string, by: Actor, url: string): Promise<string | null> {
    return this.change(organizationId, by, 'add_build_hook', () => this.hooks.add(siteOf(organizationId), url));
  }

  /** @returns the new secret; null when it was replaced, or the hook removed, since the form was shown */
  rotate(organizationId: string, by: Actor, version: string): Promise<string | null> {
    const replace = () => this.hooks.rotate(siteOf(organizationId), version);
    return this.change(organizationId, by, 'rotate_build_hook_secret', replace);
  }

  /** @returns false when the last test was moments ago, or there is no hook */
  test(organizationId: string, by: Actor): Promise<boolean> {
    return this.change(organizationId, by, 'test_build_hook', () => this.hooks.test(siteOf(organizationId)));
  }

  /** @returns false if there was none */
  remove(organizationId: string, by: Actor): Promise<boolean> {
    return this.change(organizationId, by, 'remove_build_hook', () => this.hooks.remove(siteOf(organizationId)));
  }

  /** A change that was not made leaves no audit row. */
  private change<T>(organizationId: string, by: Actor, operation: Operation, work: () => Promise<T>): Promise<T> {
    return asManager(this.db, organizationId, by, async () => {
      const done = await work();
      if (done) await this.audit.add(organizationId, by, operation, {});
      return done;
    });
  }
}
