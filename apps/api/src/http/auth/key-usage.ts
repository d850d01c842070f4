import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ApiKeys } from '@app/access';
import { Log } from '@app/logging';

/** last_used_at has a precision of one minute: collected in memory, written every few seconds. */
const FLUSH_INTERVAL_MS = 5_000;

/** Records when keys were last used: at most one write per key and minute, never within a request. */
@Injectable()
export class KeyUsage implements OnModuleInit, OnApplicationShutdown {
  private readonly used = new Map<string, Set<string>>();
  private timer: NodeJS.Timeout;

  constructor(
    private readonly keys: ApiKeys,
    private readonly log: Log,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  note(organizationId: string, keyId: string): void {
    const keys = this.used.get(organizationId) ?? new Set();
    this.used.set(organizationId, keys.add(keyId));
  }

  /** Writes what was collected. A failure costs a minute's precision and is only logged. */
  async flush(): Promise<void> {
    const noted = [...this.used];
    this.used.clear();
    for (const [organizationId, keyIds] of noted) {
      try {
        await this.keys.markUsed(organizationId, [...keyIds]);
      } catch (error) {
        this.log.failure(error, null, 'key_usage_not_written');
      }
    }
  }
}
