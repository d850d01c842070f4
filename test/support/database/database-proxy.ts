import { type Link, PostgresProxy } from './proxy.js';

/** What happens to connections. Stalled connections stay open but carry nothing, as when a firewall drops packets. */
export type Fate = 'carry' | 'stall' | 'drop' | 'reset';

/** Simulates network faults between a process and PostgreSQL. */
export class DatabaseProxy extends PostgresProxy {
  /** Delays PostgreSQL's answers (ms). */
  delay = 0;
  private current: Fate = 'carry';

  /** Applies to open and new connections. Stalled connections close when the stall ends. */
  set fate(fate: Fate) {
    const stalled = this.current === 'stall';
    this.current = fate;
    for (const link of this.links) {
      if (stalled) link.client.destroy();
      else this.strike(link);
    }
  }

  protected override carry(link: Link): void {
    const { client, upstream } = link;
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => {
      const say = () => client.destroyed || client.write(chunk);
      if (this.delay > 0) setTimeout(say, this.delay);
      else say();
    });
    this.strike(link);
  }

  private strike({ client, upstream }: Link): void {
    if (this.current === 'drop') client.destroy();
    if (this.current === 'reset') client.resetAndDestroy();
    if (this.current !== 'stall') return;
    client.removeAllListeners('data').resume();
    upstream.removeAllListeners('data').resume();
  }
}
